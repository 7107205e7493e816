# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_trueup_global_optspecs
    string join \n output= color= v/verbose q/quiet h/help V/version
end

function __fish_trueup_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_trueup_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_trueup_using_subcommand
    set -l cmd (__fish_trueup_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c trueup -n "__fish_trueup_needs_command" -l output -d 'Text for people, JSON (one document, or one object a line), or for CI: the rest, of plan, drift, apply, delete and validate' -r -f -a "text\t''
json\t''
ndjson\t''
markdown\t'A comment for a pull request'
html\t'One page'
junit\t'Results of tests'
sarif\t'Findings for code scanning'
github\t'Annotations of GitHub Actions'"
complete -c trueup -n "__fish_trueup_needs_command" -l color -d 'Whether to colour; auto: in a terminal, unless NO_COLOR is set' -r -f -a "auto\t''
always\t''
never\t''"
complete -c trueup -n "__fish_trueup_needs_command" -s v -l verbose -d 'Show objects in sync too; twice: log requests'
complete -c trueup -n "__fish_trueup_needs_command" -s q -l quiet -d 'No progress, no talk: the result only'
complete -c trueup -n "__fish_trueup_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c trueup -n "__fish_trueup_needs_command" -s V -l version -d 'Print version'
complete -c trueup -n "__fish_trueup_needs_command" -f -a "plan" -d 'Show what would change, field by field; writes nothing'
complete -c trueup -n "__fish_trueup_needs_command" -f -a "drift" -d 'Check for differences in CI: exit code 2 when there are any; writes nothing'
complete -c trueup -n "__fish_trueup_needs_command" -f -a "apply" -d 'Make the server match the files, and read it back'
complete -c trueup -n "__fish_trueup_needs_command" -f -a "watch" -d 'Keep the server so: look again and again, and put right what differs'
complete -c trueup -n "__fish_trueup_needs_command" -f -a "validate" -d 'Check the files without a network'
complete -c trueup -n "__fish_trueup_needs_command" -f -a "get" -d 'Show live objects'
complete -c trueup -n "__fish_trueup_needs_command" -f -a "export" -d 'Write live objects as manifests whose plan is empty'
complete -c trueup -n "__fish_trueup_needs_command" -f -a "explain" -d 'Tell what is known of a kind, or why an object\'s plan is what it is; writes nothing'
complete -c trueup -n "__fish_trueup_needs_command" -f -a "probe" -d 'Hold a backend against live answers; writes nothing'
complete -c trueup -n "__fish_trueup_needs_command" -f -a "delete" -d 'Delete what the files name, in reverse order'
complete -c trueup -n "__fish_trueup_needs_command" -f -a "status" -d 'Show where a running or past watch stands'
complete -c trueup -n "__fish_trueup_needs_command" -f -a "serve" -d 'Run the built-in REST server'
complete -c trueup -n "__fish_trueup_needs_command" -f -a "completions" -d 'Print the completions for a shell'
complete -c trueup -n "__fish_trueup_using_subcommand plan" -l out -d 'Save the plan to this file, for `trueup apply FILE`' -r -F
complete -c trueup -n "__fish_trueup_using_subcommand plan" -l show -d 'Show a saved plan, offline; -f is not needed' -r -F
complete -c trueup -n "__fish_trueup_using_subcommand plan" -l replace -d 'Allow this object to be deleted and created again; can be repeated' -r
complete -c trueup -n "__fish_trueup_using_subcommand plan" -l rotate -d 'Send the write-only values of this object again; can be repeated' -r
complete -c trueup -n "__fish_trueup_using_subcommand plan" -l force-conflicts -d 'Overwrite what somebody else changed at this path; can be repeated, all of an object must be named' -r
complete -c trueup -n "__fish_trueup_using_subcommand plan" -l max-deletes -d 'So many objects of a Set or a ReplicaSet may be deleted, or of a kind of it; can be repeated [default: its `max-deletes`]' -r
complete -c trueup -n "__fish_trueup_using_subcommand plan" -s f -l file -d 'A file or folder of manifests, or - for standard input; can be repeated' -r -F
complete -c trueup -n "__fish_trueup_using_subcommand plan" -s l -l selector -d 'Objects with these labels: app=web,tier!=db; can be repeated, all must hold' -r
complete -c trueup -n "__fish_trueup_using_subcommand plan" -l only -d 'Only objects whose Kind/name matches, or whose file: file:queues*.yaml, and what they need; can be repeated' -r
complete -c trueup -n "__fish_trueup_using_subcommand plan" -l exclude -d 'No objects whose Kind/name matches, nor whose file: file:old*.yaml; can be repeated' -r
complete -c trueup -n "__fish_trueup_using_subcommand plan" -l backends -d 'Take Backend documents from here and nowhere else; can be repeated' -r -F
complete -c trueup -n "__fish_trueup_using_subcommand plan" -l allow-env -d 'Let manifests read only these variables of the environment; can be repeated' -r
complete -c trueup -n "__fish_trueup_using_subcommand plan" -l base -d 'What the same files said before: a revision of their Git repository, or a folder' -r -f -a "(__fish_complete_directories)"
complete -c trueup -n "__fish_trueup_using_subcommand plan" -l parallel -d 'Requests at once, to each backend [default: adapts to the server]' -r
complete -c trueup -n "__fish_trueup_using_subcommand plan" -l timeout -d 'Time for the whole run, such as 90s or 5m' -r
complete -c trueup -n "__fish_trueup_using_subcommand plan" -l output -d 'Text for people, JSON (one document, or one object a line), or for CI: the rest, of plan, drift, apply, delete and validate' -r -f -a "text\t''
json\t''
ndjson\t''
markdown\t'A comment for a pull request'
html\t'One page'
junit\t'Results of tests'
sarif\t'Findings for code scanning'
github\t'Annotations of GitHub Actions'"
complete -c trueup -n "__fish_trueup_using_subcommand plan" -l color -d 'Whether to colour; auto: in a terminal, unless NO_COLOR is set' -r -f -a "auto\t''
always\t''
never\t''"
complete -c trueup -n "__fish_trueup_using_subcommand plan" -l undeclared -d 'List the fields that the server has and no document declares; they are never a change'
complete -c trueup -n "__fish_trueup_using_subcommand plan" -l detailed-exitcode -d 'Exit with 2 when there are differences, or changes were made'
complete -c trueup -n "__fish_trueup_using_subcommand plan" -l suggest -d 'Print the lines for the backend that would accept what the server makes of a value'
complete -c trueup -n "__fish_trueup_using_subcommand plan" -l prune -d 'Delete what is in the scope of a Set and in no document'
complete -c trueup -n "__fish_trueup_using_subcommand plan" -l allow-empty -d 'Let all objects of a Set be pruned, none being left in the documents'
complete -c trueup -n "__fish_trueup_using_subcommand plan" -s v -l verbose -d 'Show objects in sync too; twice: log requests'
complete -c trueup -n "__fish_trueup_using_subcommand plan" -s q -l quiet -d 'No progress, no talk: the result only'
complete -c trueup -n "__fish_trueup_using_subcommand plan" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c trueup -n "__fish_trueup_using_subcommand drift" -l fail-on -d 'What makes the exit code 2; can be repeated [default: difference]' -r -f -a "difference\t'Something is to be created, changed or deleted'
pending\t'The files changed since the base'
drift\t'The server changed since the base'
conflict\t'Both changed, to different ends'
extra\t'Something is in the scope of a Set and in no document'"
complete -c trueup -n "__fish_trueup_using_subcommand drift" -l accepted -d 'A file of drift that is known, and does not count until a day' -r -F
complete -c trueup -n "__fish_trueup_using_subcommand drift" -l max-deletes -d 'So many objects of a Set or a ReplicaSet may be deleted, or of a kind of it; can be repeated [default: its `max-deletes`]' -r
complete -c trueup -n "__fish_trueup_using_subcommand drift" -s f -l file -d 'A file or folder of manifests, or - for standard input; can be repeated' -r -F
complete -c trueup -n "__fish_trueup_using_subcommand drift" -s l -l selector -d 'Objects with these labels: app=web,tier!=db; can be repeated, all must hold' -r
complete -c trueup -n "__fish_trueup_using_subcommand drift" -l only -d 'Only objects whose Kind/name matches, or whose file: file:queues*.yaml, and what they need; can be repeated' -r
complete -c trueup -n "__fish_trueup_using_subcommand drift" -l exclude -d 'No objects whose Kind/name matches, nor whose file: file:old*.yaml; can be repeated' -r
complete -c trueup -n "__fish_trueup_using_subcommand drift" -l backends -d 'Take Backend documents from here and nowhere else; can be repeated' -r -F
complete -c trueup -n "__fish_trueup_using_subcommand drift" -l allow-env -d 'Let manifests read only these variables of the environment; can be repeated' -r
complete -c trueup -n "__fish_trueup_using_subcommand drift" -l base -d 'What the same files said before: a revision of their Git repository, or a folder' -r -f -a "(__fish_complete_directories)"
complete -c trueup -n "__fish_trueup_using_subcommand drift" -l parallel -d 'Requests at once, to each backend [default: adapts to the server]' -r
complete -c trueup -n "__fish_trueup_using_subcommand drift" -l timeout -d 'Time for the whole run, such as 90s or 5m' -r
complete -c trueup -n "__fish_trueup_using_subcommand drift" -l output -d 'Text for people, JSON (one document, or one object a line), or for CI: the rest, of plan, drift, apply, delete and validate' -r -f -a "text\t''
json\t''
ndjson\t''
markdown\t'A comment for a pull request'
html\t'One page'
junit\t'Results of tests'
sarif\t'Findings for code scanning'
github\t'Annotations of GitHub Actions'"
complete -c trueup -n "__fish_trueup_using_subcommand drift" -l color -d 'Whether to colour; auto: in a terminal, unless NO_COLOR is set' -r -f -a "auto\t''
always\t''
never\t''"
complete -c trueup -n "__fish_trueup_using_subcommand drift" -l prune -d 'Delete what is in the scope of a Set and in no document'
complete -c trueup -n "__fish_trueup_using_subcommand drift" -l allow-empty -d 'Let all objects of a Set be pruned, none being left in the documents'
complete -c trueup -n "__fish_trueup_using_subcommand drift" -s v -l verbose -d 'Show objects in sync too; twice: log requests'
complete -c trueup -n "__fish_trueup_using_subcommand drift" -s q -l quiet -d 'No progress, no talk: the result only'
complete -c trueup -n "__fish_trueup_using_subcommand drift" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c trueup -n "__fish_trueup_using_subcommand apply" -l replace -d 'Allow this object to be deleted and created again; can be repeated' -r
complete -c trueup -n "__fish_trueup_using_subcommand apply" -l rotate -d 'Send the write-only values of this object again; can be repeated' -r
complete -c trueup -n "__fish_trueup_using_subcommand apply" -l force-conflicts -d 'Overwrite what somebody else changed at this path; can be repeated, all of an object must be named' -r
complete -c trueup -n "__fish_trueup_using_subcommand apply" -l record -d 'Once all is settled, move this Git ref to the last commit, to be a later base' -r
complete -c trueup -n "__fish_trueup_using_subcommand apply" -l max-deletes -d 'So many objects of a Set or a ReplicaSet may be deleted, or of a kind of it; can be repeated [default: its `max-deletes`]' -r
complete -c trueup -n "__fish_trueup_using_subcommand apply" -s f -l file -d 'A file or folder of manifests, or - for standard input; can be repeated' -r -F
complete -c trueup -n "__fish_trueup_using_subcommand apply" -s l -l selector -d 'Objects with these labels: app=web,tier!=db; can be repeated, all must hold' -r
complete -c trueup -n "__fish_trueup_using_subcommand apply" -l only -d 'Only objects whose Kind/name matches, or whose file: file:queues*.yaml, and what they need; can be repeated' -r
complete -c trueup -n "__fish_trueup_using_subcommand apply" -l exclude -d 'No objects whose Kind/name matches, nor whose file: file:old*.yaml; can be repeated' -r
complete -c trueup -n "__fish_trueup_using_subcommand apply" -l backends -d 'Take Backend documents from here and nowhere else; can be repeated' -r -F
complete -c trueup -n "__fish_trueup_using_subcommand apply" -l allow-env -d 'Let manifests read only these variables of the environment; can be repeated' -r
complete -c trueup -n "__fish_trueup_using_subcommand apply" -l base -d 'What the same files said before: a revision of their Git repository, or a folder' -r -f -a "(__fish_complete_directories)"
complete -c trueup -n "__fish_trueup_using_subcommand apply" -l parallel -d 'Requests at once, to each backend [default: adapts to the server]' -r
complete -c trueup -n "__fish_trueup_using_subcommand apply" -l timeout -d 'Time for the whole run, such as 90s or 5m' -r
complete -c trueup -n "__fish_trueup_using_subcommand apply" -l output -d 'Text for people, JSON (one document, or one object a line), or for CI: the rest, of plan, drift, apply, delete and validate' -r -f -a "text\t''
json\t''
ndjson\t''
markdown\t'A comment for a pull request'
html\t'One page'
junit\t'Results of tests'
sarif\t'Findings for code scanning'
github\t'Annotations of GitHub Actions'"
complete -c trueup -n "__fish_trueup_using_subcommand apply" -l color -d 'Whether to colour; auto: in a terminal, unless NO_COLOR is set' -r -f -a "auto\t''
always\t''
never\t''"
complete -c trueup -n "__fish_trueup_using_subcommand apply" -l yes -d 'Write without asking'
complete -c trueup -n "__fish_trueup_using_subcommand apply" -l detailed-exitcode -d 'Exit with 2 when there are differences, or changes were made'
complete -c trueup -n "__fish_trueup_using_subcommand apply" -l suggest -d 'Print the lines for the backend that would accept what the server makes of a value'
complete -c trueup -n "__fish_trueup_using_subcommand apply" -l prune -d 'Delete what is in the scope of a Set and in no document'
complete -c trueup -n "__fish_trueup_using_subcommand apply" -l allow-empty -d 'Let all objects of a Set be pruned, none being left in the documents'
complete -c trueup -n "__fish_trueup_using_subcommand apply" -s v -l verbose -d 'Show objects in sync too; twice: log requests'
complete -c trueup -n "__fish_trueup_using_subcommand apply" -s q -l quiet -d 'No progress, no talk: the result only'
complete -c trueup -n "__fish_trueup_using_subcommand apply" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c trueup -n "__fish_trueup_using_subcommand watch" -l interval -d 'How often listings are polled for changes [default: adapts, from 10s to 5m]' -r
complete -c trueup -n "__fish_trueup_using_subcommand watch" -l resync -d 'How often everything is looked at, whatever is heard of it' -r
complete -c trueup -n "__fish_trueup_using_subcommand watch" -l max-changes -d 'So many writes an hour at most [default: no limit]' -r
complete -c trueup -n "__fish_trueup_using_subcommand watch" -l lease -d 'Several instances: only the one that holds this object writes, as in `--lease Lease/trueup`' -r
complete -c trueup -n "__fish_trueup_using_subcommand watch" -l lease-duration -d 'How long a lease is good that its holder does not renew' -r
complete -c trueup -n "__fish_trueup_using_subcommand watch" -l shards -d 'With --lease: so many instances at most share the objects, by as many leases' -r
complete -c trueup -n "__fish_trueup_using_subcommand watch" -l status-file -d 'Keep the status in this file, for `trueup status`' -r -F
complete -c trueup -n "__fish_trueup_using_subcommand watch" -l listen -d 'Serve status and metrics here: a port of this machine alone, or an address with a port' -r
complete -c trueup -n "__fish_trueup_using_subcommand watch" -l listen-token-env -d 'Variable of the environment that holds the token which those who ask at the port must show' -r
complete -c trueup -n "__fish_trueup_using_subcommand watch" -l hook-secret-env -d 'Variable of the environment that holds the secret by which webhooks are signed; without it there are none' -r
complete -c trueup -n "__fish_trueup_using_subcommand watch" -l log -d 'How lines of the log are written' -r -f -a "text\t''
ndjson\t'One JSON object a line'"
complete -c trueup -n "__fish_trueup_using_subcommand watch" -l max-deletes -d 'So many objects of a Set or a ReplicaSet may be deleted, or of a kind of it; can be repeated [default: its `max-deletes`]' -r
complete -c trueup -n "__fish_trueup_using_subcommand watch" -s f -l file -d 'A file or folder of manifests, or - for standard input; can be repeated' -r -F
complete -c trueup -n "__fish_trueup_using_subcommand watch" -s l -l selector -d 'Objects with these labels: app=web,tier!=db; can be repeated, all must hold' -r
complete -c trueup -n "__fish_trueup_using_subcommand watch" -l only -d 'Only objects whose Kind/name matches, or whose file: file:queues*.yaml, and what they need; can be repeated' -r
complete -c trueup -n "__fish_trueup_using_subcommand watch" -l exclude -d 'No objects whose Kind/name matches, nor whose file: file:old*.yaml; can be repeated' -r
complete -c trueup -n "__fish_trueup_using_subcommand watch" -l backends -d 'Take Backend documents from here and nowhere else; can be repeated' -r -F
complete -c trueup -n "__fish_trueup_using_subcommand watch" -l allow-env -d 'Let manifests read only these variables of the environment; can be repeated' -r
complete -c trueup -n "__fish_trueup_using_subcommand watch" -l base -d 'What the same files said before: a revision of their Git repository, or a folder' -r -f -a "(__fish_complete_directories)"
complete -c trueup -n "__fish_trueup_using_subcommand watch" -l parallel -d 'Requests at once, to each backend [default: adapts to the server]' -r
complete -c trueup -n "__fish_trueup_using_subcommand watch" -l timeout -d 'Time for the whole run, such as 90s or 5m' -r
complete -c trueup -n "__fish_trueup_using_subcommand watch" -l output -d 'Text for people, JSON (one document, or one object a line), or for CI: the rest, of plan, drift, apply, delete and validate' -r -f -a "text\t''
json\t''
ndjson\t''
markdown\t'A comment for a pull request'
html\t'One page'
junit\t'Results of tests'
sarif\t'Findings for code scanning'
github\t'Annotations of GitHub Actions'"
complete -c trueup -n "__fish_trueup_using_subcommand watch" -l color -d 'Whether to colour; auto: in a terminal, unless NO_COLOR is set' -r -f -a "auto\t''
always\t''
never\t''"
complete -c trueup -n "__fish_trueup_using_subcommand watch" -l once -d 'One pass over everything, then end, with the exit codes of `apply --yes`: for cron'
complete -c trueup -n "__fish_trueup_using_subcommand watch" -l dry-run -d 'Never write: tell what differs'
complete -c trueup -n "__fish_trueup_using_subcommand watch" -l prune -d 'Delete what is in the scope of a Set and in no document'
complete -c trueup -n "__fish_trueup_using_subcommand watch" -l allow-empty -d 'Let all objects of a Set be pruned, none being left in the documents'
complete -c trueup -n "__fish_trueup_using_subcommand watch" -s v -l verbose -d 'Show objects in sync too; twice: log requests'
complete -c trueup -n "__fish_trueup_using_subcommand watch" -s q -l quiet -d 'No progress, no talk: the result only'
complete -c trueup -n "__fish_trueup_using_subcommand watch" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c trueup -n "__fish_trueup_using_subcommand validate" -s f -l file -d 'A file or folder of manifests, or - for standard input; can be repeated' -r -F
complete -c trueup -n "__fish_trueup_using_subcommand validate" -s l -l selector -d 'Objects with these labels: app=web,tier!=db; can be repeated, all must hold' -r
complete -c trueup -n "__fish_trueup_using_subcommand validate" -l only -d 'Only objects whose Kind/name matches, or whose file: file:queues*.yaml, and what they need; can be repeated' -r
complete -c trueup -n "__fish_trueup_using_subcommand validate" -l exclude -d 'No objects whose Kind/name matches, nor whose file: file:old*.yaml; can be repeated' -r
complete -c trueup -n "__fish_trueup_using_subcommand validate" -l backends -d 'Take Backend documents from here and nowhere else; can be repeated' -r -F
complete -c trueup -n "__fish_trueup_using_subcommand validate" -l allow-env -d 'Let manifests read only these variables of the environment; can be repeated' -r
complete -c trueup -n "__fish_trueup_using_subcommand validate" -l output -d 'Text for people, JSON (one document, or one object a line), or for CI: the rest, of plan, drift, apply, delete and validate' -r -f -a "text\t''
json\t''
ndjson\t''
markdown\t'A comment for a pull request'
html\t'One page'
junit\t'Results of tests'
sarif\t'Findings for code scanning'
github\t'Annotations of GitHub Actions'"
complete -c trueup -n "__fish_trueup_using_subcommand validate" -l color -d 'Whether to colour; auto: in a terminal, unless NO_COLOR is set' -r -f -a "auto\t''
always\t''
never\t''"
complete -c trueup -n "__fish_trueup_using_subcommand validate" -s v -l verbose -d 'Show objects in sync too; twice: log requests'
complete -c trueup -n "__fish_trueup_using_subcommand validate" -s q -l quiet -d 'No progress, no talk: the result only'
complete -c trueup -n "__fish_trueup_using_subcommand validate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c trueup -n "__fish_trueup_using_subcommand get" -s f -l file -d 'A file or folder of manifests, or - for standard input; can be repeated' -r -F
complete -c trueup -n "__fish_trueup_using_subcommand get" -s l -l selector -d 'Objects with these labels: app=web,tier!=db; can be repeated, all must hold' -r
complete -c trueup -n "__fish_trueup_using_subcommand get" -l only -d 'Only objects whose Kind/name matches, or whose file: file:queues*.yaml, and what they need; can be repeated' -r
complete -c trueup -n "__fish_trueup_using_subcommand get" -l exclude -d 'No objects whose Kind/name matches, nor whose file: file:old*.yaml; can be repeated' -r
complete -c trueup -n "__fish_trueup_using_subcommand get" -l backends -d 'Take Backend documents from here and nowhere else; can be repeated' -r -F
complete -c trueup -n "__fish_trueup_using_subcommand get" -l allow-env -d 'Let manifests read only these variables of the environment; can be repeated' -r
complete -c trueup -n "__fish_trueup_using_subcommand get" -l parallel -d 'Requests at once, to each backend [default: adapts to the server]' -r
complete -c trueup -n "__fish_trueup_using_subcommand get" -l timeout -d 'Time for the whole run, such as 90s or 5m' -r
complete -c trueup -n "__fish_trueup_using_subcommand get" -l output -d 'Text for people, JSON (one document, or one object a line), or for CI: the rest, of plan, drift, apply, delete and validate' -r -f -a "text\t''
json\t''
ndjson\t''
markdown\t'A comment for a pull request'
html\t'One page'
junit\t'Results of tests'
sarif\t'Findings for code scanning'
github\t'Annotations of GitHub Actions'"
complete -c trueup -n "__fish_trueup_using_subcommand get" -l color -d 'Whether to colour; auto: in a terminal, unless NO_COLOR is set' -r -f -a "auto\t''
always\t''
never\t''"
complete -c trueup -n "__fish_trueup_using_subcommand get" -s v -l verbose -d 'Show objects in sync too; twice: log requests'
complete -c trueup -n "__fish_trueup_using_subcommand get" -s q -l quiet -d 'No progress, no talk: the result only'
complete -c trueup -n "__fish_trueup_using_subcommand get" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c trueup -n "__fish_trueup_using_subcommand export" -s o -l out -d 'Write one file a kind into this folder, in place of standard output' -r -f -a "(__fish_complete_directories)"
complete -c trueup -n "__fish_trueup_using_subcommand export" -s f -l file -d 'A file or folder of manifests, or - for standard input; can be repeated' -r -F
complete -c trueup -n "__fish_trueup_using_subcommand export" -s l -l selector -d 'Objects with these labels: app=web,tier!=db; can be repeated, all must hold' -r
complete -c trueup -n "__fish_trueup_using_subcommand export" -l only -d 'Only objects whose Kind/name matches, or whose file: file:queues*.yaml, and what they need; can be repeated' -r
complete -c trueup -n "__fish_trueup_using_subcommand export" -l exclude -d 'No objects whose Kind/name matches, nor whose file: file:old*.yaml; can be repeated' -r
complete -c trueup -n "__fish_trueup_using_subcommand export" -l backends -d 'Take Backend documents from here and nowhere else; can be repeated' -r -F
complete -c trueup -n "__fish_trueup_using_subcommand export" -l allow-env -d 'Let manifests read only these variables of the environment; can be repeated' -r
complete -c trueup -n "__fish_trueup_using_subcommand export" -l parallel -d 'Requests at once, to each backend [default: adapts to the server]' -r
complete -c trueup -n "__fish_trueup_using_subcommand export" -l timeout -d 'Time for the whole run, such as 90s or 5m' -r
complete -c trueup -n "__fish_trueup_using_subcommand export" -l output -d 'Text for people, JSON (one document, or one object a line), or for CI: the rest, of plan, drift, apply, delete and validate' -r -f -a "text\t''
json\t''
ndjson\t''
markdown\t'A comment for a pull request'
html\t'One page'
junit\t'Results of tests'
sarif\t'Findings for code scanning'
github\t'Annotations of GitHub Actions'"
complete -c trueup -n "__fish_trueup_using_subcommand export" -l color -d 'Whether to colour; auto: in a terminal, unless NO_COLOR is set' -r -f -a "auto\t''
always\t''
never\t''"
complete -c trueup -n "__fish_trueup_using_subcommand export" -s v -l verbose -d 'Show objects in sync too; twice: log requests'
complete -c trueup -n "__fish_trueup_using_subcommand export" -s q -l quiet -d 'No progress, no talk: the result only'
complete -c trueup -n "__fish_trueup_using_subcommand export" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c trueup -n "__fish_trueup_using_subcommand explain" -s f -l file -d 'A file or folder of manifests, or - for standard input; can be repeated' -r -F
complete -c trueup -n "__fish_trueup_using_subcommand explain" -s l -l selector -d 'Objects with these labels: app=web,tier!=db; can be repeated, all must hold' -r
complete -c trueup -n "__fish_trueup_using_subcommand explain" -l only -d 'Only objects whose Kind/name matches, or whose file: file:queues*.yaml, and what they need; can be repeated' -r
complete -c trueup -n "__fish_trueup_using_subcommand explain" -l exclude -d 'No objects whose Kind/name matches, nor whose file: file:old*.yaml; can be repeated' -r
complete -c trueup -n "__fish_trueup_using_subcommand explain" -l backends -d 'Take Backend documents from here and nowhere else; can be repeated' -r -F
complete -c trueup -n "__fish_trueup_using_subcommand explain" -l allow-env -d 'Let manifests read only these variables of the environment; can be repeated' -r
complete -c trueup -n "__fish_trueup_using_subcommand explain" -l base -d 'What the same files said before: a revision of their Git repository, or a folder' -r -f -a "(__fish_complete_directories)"
complete -c trueup -n "__fish_trueup_using_subcommand explain" -l parallel -d 'Requests at once, to each backend [default: adapts to the server]' -r
complete -c trueup -n "__fish_trueup_using_subcommand explain" -l timeout -d 'Time for the whole run, such as 90s or 5m' -r
complete -c trueup -n "__fish_trueup_using_subcommand explain" -l output -d 'Text for people, JSON (one document, or one object a line), or for CI: the rest, of plan, drift, apply, delete and validate' -r -f -a "text\t''
json\t''
ndjson\t''
markdown\t'A comment for a pull request'
html\t'One page'
junit\t'Results of tests'
sarif\t'Findings for code scanning'
github\t'Annotations of GitHub Actions'"
complete -c trueup -n "__fish_trueup_using_subcommand explain" -l color -d 'Whether to colour; auto: in a terminal, unless NO_COLOR is set' -r -f -a "auto\t''
always\t''
never\t''"
complete -c trueup -n "__fish_trueup_using_subcommand explain" -s v -l verbose -d 'Show objects in sync too; twice: log requests'
complete -c trueup -n "__fish_trueup_using_subcommand explain" -s q -l quiet -d 'No progress, no talk: the result only'
complete -c trueup -n "__fish_trueup_using_subcommand explain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c trueup -n "__fish_trueup_using_subcommand probe" -l limit -d 'Objects of each kind that are read by themselves' -r
complete -c trueup -n "__fish_trueup_using_subcommand probe" -s f -l file -d 'A file or folder of manifests, or - for standard input; can be repeated' -r -F
complete -c trueup -n "__fish_trueup_using_subcommand probe" -s l -l selector -d 'Objects with these labels: app=web,tier!=db; can be repeated, all must hold' -r
complete -c trueup -n "__fish_trueup_using_subcommand probe" -l only -d 'Only objects whose Kind/name matches, or whose file: file:queues*.yaml, and what they need; can be repeated' -r
complete -c trueup -n "__fish_trueup_using_subcommand probe" -l exclude -d 'No objects whose Kind/name matches, nor whose file: file:old*.yaml; can be repeated' -r
complete -c trueup -n "__fish_trueup_using_subcommand probe" -l backends -d 'Take Backend documents from here and nowhere else; can be repeated' -r -F
complete -c trueup -n "__fish_trueup_using_subcommand probe" -l allow-env -d 'Let manifests read only these variables of the environment; can be repeated' -r
complete -c trueup -n "__fish_trueup_using_subcommand probe" -l parallel -d 'Requests at once, to each backend [default: adapts to the server]' -r
complete -c trueup -n "__fish_trueup_using_subcommand probe" -l timeout -d 'Time for the whole run, such as 90s or 5m' -r
complete -c trueup -n "__fish_trueup_using_subcommand probe" -l output -d 'Text for people, JSON (one document, or one object a line), or for CI: the rest, of plan, drift, apply, delete and validate' -r -f -a "text\t''
json\t''
ndjson\t''
markdown\t'A comment for a pull request'
html\t'One page'
junit\t'Results of tests'
sarif\t'Findings for code scanning'
github\t'Annotations of GitHub Actions'"
complete -c trueup -n "__fish_trueup_using_subcommand probe" -l color -d 'Whether to colour; auto: in a terminal, unless NO_COLOR is set' -r -f -a "auto\t''
always\t''
never\t''"
complete -c trueup -n "__fish_trueup_using_subcommand probe" -s v -l verbose -d 'Show objects in sync too; twice: log requests'
complete -c trueup -n "__fish_trueup_using_subcommand probe" -s q -l quiet -d 'No progress, no talk: the result only'
complete -c trueup -n "__fish_trueup_using_subcommand probe" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c trueup -n "__fish_trueup_using_subcommand delete" -s f -l file -d 'A file or folder of manifests, or - for standard input; can be repeated' -r -F
complete -c trueup -n "__fish_trueup_using_subcommand delete" -s l -l selector -d 'Objects with these labels: app=web,tier!=db; can be repeated, all must hold' -r
complete -c trueup -n "__fish_trueup_using_subcommand delete" -l only -d 'Only objects whose Kind/name matches, or whose file: file:queues*.yaml, and what they need; can be repeated' -r
complete -c trueup -n "__fish_trueup_using_subcommand delete" -l exclude -d 'No objects whose Kind/name matches, nor whose file: file:old*.yaml; can be repeated' -r
complete -c trueup -n "__fish_trueup_using_subcommand delete" -l backends -d 'Take Backend documents from here and nowhere else; can be repeated' -r -F
complete -c trueup -n "__fish_trueup_using_subcommand delete" -l allow-env -d 'Let manifests read only these variables of the environment; can be repeated' -r
complete -c trueup -n "__fish_trueup_using_subcommand delete" -l parallel -d 'Requests at once, to each backend [default: adapts to the server]' -r
complete -c trueup -n "__fish_trueup_using_subcommand delete" -l timeout -d 'Time for the whole run, such as 90s or 5m' -r
complete -c trueup -n "__fish_trueup_using_subcommand delete" -l output -d 'Text for people, JSON (one document, or one object a line), or for CI: the rest, of plan, drift, apply, delete and validate' -r -f -a "text\t''
json\t''
ndjson\t''
markdown\t'A comment for a pull request'
html\t'One page'
junit\t'Results of tests'
sarif\t'Findings for code scanning'
github\t'Annotations of GitHub Actions'"
complete -c trueup -n "__fish_trueup_using_subcommand delete" -l color -d 'Whether to colour; auto: in a terminal, unless NO_COLOR is set' -r -f -a "auto\t''
always\t''
never\t''"
complete -c trueup -n "__fish_trueup_using_subcommand delete" -l yes -d 'Write without asking'
complete -c trueup -n "__fish_trueup_using_subcommand delete" -s v -l verbose -d 'Show objects in sync too; twice: log requests'
complete -c trueup -n "__fish_trueup_using_subcommand delete" -s q -l quiet -d 'No progress, no talk: the result only'
complete -c trueup -n "__fish_trueup_using_subcommand delete" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c trueup -n "__fish_trueup_using_subcommand status" -l status-file -d 'The status file of the watch' -r -F
complete -c trueup -n "__fish_trueup_using_subcommand status" -l url -d 'The port of a running watch: http://127.0.0.1:8081' -r -f
complete -c trueup -n "__fish_trueup_using_subcommand status" -l token-env -d 'Variable of the environment that holds the token of the running watch' -r
complete -c trueup -n "__fish_trueup_using_subcommand status" -l fail-on -d 'What makes the exit code another than 0; can be repeated [default: all but not-ready]' -r -f -a "stalled\t'An object is stalled: trying again changes nothing'
unknown\t'Nothing certain is known of an object'
not-effective\t'A server keeps another value than the one it was sent'
fighting\t'Another writer sets an object back, again and again'
conflict\t'Somebody else changed an object'
failing\t'Passes of an object fail, and are tried again'
not-synced\t'An object differs'
waiting\t'An object was not looked at yet'
not-ready\t'An object is not ready'
refused\t'A guard keeps what no document names from being pruned'
desired\t'The files are not valid'
dead\t'The watch gives no sign of life'
nothing\t'Nothing at all'"
complete -c trueup -n "__fish_trueup_using_subcommand status" -l output -d 'Text for people, JSON (one document, or one object a line), or for CI: the rest, of plan, drift, apply, delete and validate' -r -f -a "text\t''
json\t''
ndjson\t''
markdown\t'A comment for a pull request'
html\t'One page'
junit\t'Results of tests'
sarif\t'Findings for code scanning'
github\t'Annotations of GitHub Actions'"
complete -c trueup -n "__fish_trueup_using_subcommand status" -l color -d 'Whether to colour; auto: in a terminal, unless NO_COLOR is set' -r -f -a "auto\t''
always\t''
never\t''"
complete -c trueup -n "__fish_trueup_using_subcommand status" -s v -l verbose -d 'Show objects in sync too; twice: log requests'
complete -c trueup -n "__fish_trueup_using_subcommand status" -s q -l quiet -d 'No progress, no talk: the result only'
complete -c trueup -n "__fish_trueup_using_subcommand status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c trueup -n "__fish_trueup_using_subcommand serve" -l listen -d 'Address and port to listen on; port 0 takes any free one' -r
complete -c trueup -n "__fish_trueup_using_subcommand serve" -l store -d 'Folder that keeps the objects' -r -F
complete -c trueup -n "__fish_trueup_using_subcommand serve" -l faults -d 'Faults to inject, for tests' -r -F
complete -c trueup -n "__fish_trueup_using_subcommand serve" -l token-env -d 'Variable of the environment that holds the token which clients must send' -r
complete -c trueup -n "__fish_trueup_using_subcommand serve" -l status-apart -d 'Collections whose items keep `status` apart, by name, with commas; the store remembers them' -r
complete -c trueup -n "__fish_trueup_using_subcommand serve" -l output -d 'Text for people, JSON (one document, or one object a line), or for CI: the rest, of plan, drift, apply, delete and validate' -r -f -a "text\t''
json\t''
ndjson\t''
markdown\t'A comment for a pull request'
html\t'One page'
junit\t'Results of tests'
sarif\t'Findings for code scanning'
github\t'Annotations of GitHub Actions'"
complete -c trueup -n "__fish_trueup_using_subcommand serve" -l color -d 'Whether to colour; auto: in a terminal, unless NO_COLOR is set' -r -f -a "auto\t''
always\t''
never\t''"
complete -c trueup -n "__fish_trueup_using_subcommand serve" -l require-preconditions -d 'Refuse changes and deletes without a precondition (428)'
complete -c trueup -n "__fish_trueup_using_subcommand serve" -l no-sync -d 'Do not wait for the disk before answering a write: faster, and a crash of the machine may lose some'
complete -c trueup -n "__fish_trueup_using_subcommand serve" -s v -l verbose -d 'Show objects in sync too; twice: log requests'
complete -c trueup -n "__fish_trueup_using_subcommand serve" -s q -l quiet -d 'No progress, no talk: the result only'
complete -c trueup -n "__fish_trueup_using_subcommand serve" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c trueup -n "__fish_trueup_using_subcommand completions" -l output -d 'Text for people, JSON (one document, or one object a line), or for CI: the rest, of plan, drift, apply, delete and validate' -r -f -a "text\t''
json\t''
ndjson\t''
markdown\t'A comment for a pull request'
html\t'One page'
junit\t'Results of tests'
sarif\t'Findings for code scanning'
github\t'Annotations of GitHub Actions'"
complete -c trueup -n "__fish_trueup_using_subcommand completions" -l color -d 'Whether to colour; auto: in a terminal, unless NO_COLOR is set' -r -f -a "auto\t''
always\t''
never\t''"
complete -c trueup -n "__fish_trueup_using_subcommand completions" -s v -l verbose -d 'Show objects in sync too; twice: log requests'
complete -c trueup -n "__fish_trueup_using_subcommand completions" -s q -l quiet -d 'No progress, no talk: the result only'
complete -c trueup -n "__fish_trueup_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
