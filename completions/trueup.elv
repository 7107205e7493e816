
use builtin;
use str;

set edit:completion:arg-completer[trueup] = {|@words|
    fn spaces {|n|
        builtin:repeat $n ' ' | str:join ''
    }
    fn cand {|text desc|
        edit:complex-candidate $text &display=$text' '(spaces (- 14 (wcswidth $text)))$desc
    }
    var command = 'trueup'
    for word $words[1..-1] {
        if (str:has-prefix $word '-') {
            break
        }
        set command = $command';'$word
    }
    var completions = [
        &'trueup'= {
            cand --output 'Text for people, or JSON: one document, or one object a line'
            cand --color 'Whether to colour; auto: in a terminal, unless NO_COLOR is set'
            cand -v 'Show objects in sync too; twice: log requests'
            cand --verbose 'Show objects in sync too; twice: log requests'
            cand -q 'No progress, no talk: the result only'
            cand --quiet 'No progress, no talk: the result only'
            cand -h 'Print help'
            cand --help 'Print help'
            cand -V 'Print version'
            cand --version 'Print version'
            cand plan 'Show what would change, field by field; writes nothing'
            cand drift 'Check for differences in CI: exit code 2 when there are any; writes nothing'
            cand apply 'Make the server match the files, and read it back'
            cand validate 'Check the files without a network'
            cand get 'Show live objects'
            cand delete 'Delete what the files name, in reverse order'
            cand serve 'Run the built-in REST server'
            cand completions 'Print the completions for a shell'
        }
        &'trueup;plan'= {
            cand --replace 'Allow this object to be deleted and created again; can be repeated'
            cand --rotate 'Send the write-only values of this object again; can be repeated'
            cand -f 'A file or folder of manifests, or - for standard input; can be repeated'
            cand --file 'A file or folder of manifests, or - for standard input; can be repeated'
            cand -l 'Objects with these labels: app=web,tier!=db; can be repeated, all must hold'
            cand --selector 'Objects with these labels: app=web,tier!=db; can be repeated, all must hold'
            cand --only 'Only objects whose Kind/name matches; can be repeated'
            cand --exclude 'No objects whose Kind/name matches; can be repeated'
            cand --backends 'Take Backend documents from here and nowhere else; can be repeated'
            cand --allow-env 'Let manifests read only these variables of the environment; can be repeated'
            cand --parallel 'Requests at once, to each backend [default: adapts to the server]'
            cand --timeout 'Time for the whole run, such as 90s or 5m'
            cand --output 'Text for people, or JSON: one document, or one object a line'
            cand --color 'Whether to colour; auto: in a terminal, unless NO_COLOR is set'
            cand --detailed-exitcode 'Exit with 2 when there are differences, or changes were made'
            cand -v 'Show objects in sync too; twice: log requests'
            cand --verbose 'Show objects in sync too; twice: log requests'
            cand -q 'No progress, no talk: the result only'
            cand --quiet 'No progress, no talk: the result only'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'trueup;drift'= {
            cand -f 'A file or folder of manifests, or - for standard input; can be repeated'
            cand --file 'A file or folder of manifests, or - for standard input; can be repeated'
            cand -l 'Objects with these labels: app=web,tier!=db; can be repeated, all must hold'
            cand --selector 'Objects with these labels: app=web,tier!=db; can be repeated, all must hold'
            cand --only 'Only objects whose Kind/name matches; can be repeated'
            cand --exclude 'No objects whose Kind/name matches; can be repeated'
            cand --backends 'Take Backend documents from here and nowhere else; can be repeated'
            cand --allow-env 'Let manifests read only these variables of the environment; can be repeated'
            cand --parallel 'Requests at once, to each backend [default: adapts to the server]'
            cand --timeout 'Time for the whole run, such as 90s or 5m'
            cand --output 'Text for people, or JSON: one document, or one object a line'
            cand --color 'Whether to colour; auto: in a terminal, unless NO_COLOR is set'
            cand -v 'Show objects in sync too; twice: log requests'
            cand --verbose 'Show objects in sync too; twice: log requests'
            cand -q 'No progress, no talk: the result only'
            cand --quiet 'No progress, no talk: the result only'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'trueup;apply'= {
            cand --replace 'Allow this object to be deleted and created again; can be repeated'
            cand --rotate 'Send the write-only values of this object again; can be repeated'
            cand -f 'A file or folder of manifests, or - for standard input; can be repeated'
            cand --file 'A file or folder of manifests, or - for standard input; can be repeated'
            cand -l 'Objects with these labels: app=web,tier!=db; can be repeated, all must hold'
            cand --selector 'Objects with these labels: app=web,tier!=db; can be repeated, all must hold'
            cand --only 'Only objects whose Kind/name matches; can be repeated'
            cand --exclude 'No objects whose Kind/name matches; can be repeated'
            cand --backends 'Take Backend documents from here and nowhere else; can be repeated'
            cand --allow-env 'Let manifests read only these variables of the environment; can be repeated'
            cand --parallel 'Requests at once, to each backend [default: adapts to the server]'
            cand --timeout 'Time for the whole run, such as 90s or 5m'
            cand --output 'Text for people, or JSON: one document, or one object a line'
            cand --color 'Whether to colour; auto: in a terminal, unless NO_COLOR is set'
            cand --yes 'Write without asking'
            cand --detailed-exitcode 'Exit with 2 when there are differences, or changes were made'
            cand -v 'Show objects in sync too; twice: log requests'
            cand --verbose 'Show objects in sync too; twice: log requests'
            cand -q 'No progress, no talk: the result only'
            cand --quiet 'No progress, no talk: the result only'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'trueup;validate'= {
            cand -f 'A file or folder of manifests, or - for standard input; can be repeated'
            cand --file 'A file or folder of manifests, or - for standard input; can be repeated'
            cand -l 'Objects with these labels: app=web,tier!=db; can be repeated, all must hold'
            cand --selector 'Objects with these labels: app=web,tier!=db; can be repeated, all must hold'
            cand --only 'Only objects whose Kind/name matches; can be repeated'
            cand --exclude 'No objects whose Kind/name matches; can be repeated'
            cand --backends 'Take Backend documents from here and nowhere else; can be repeated'
            cand --allow-env 'Let manifests read only these variables of the environment; can be repeated'
            cand --output 'Text for people, or JSON: one document, or one object a line'
            cand --color 'Whether to colour; auto: in a terminal, unless NO_COLOR is set'
            cand -v 'Show objects in sync too; twice: log requests'
            cand --verbose 'Show objects in sync too; twice: log requests'
            cand -q 'No progress, no talk: the result only'
            cand --quiet 'No progress, no talk: the result only'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'trueup;get'= {
            cand -f 'A file or folder of manifests, or - for standard input; can be repeated'
            cand --file 'A file or folder of manifests, or - for standard input; can be repeated'
            cand -l 'Objects with these labels: app=web,tier!=db; can be repeated, all must hold'
            cand --selector 'Objects with these labels: app=web,tier!=db; can be repeated, all must hold'
            cand --only 'Only objects whose Kind/name matches; can be repeated'
            cand --exclude 'No objects whose Kind/name matches; can be repeated'
            cand --backends 'Take Backend documents from here and nowhere else; can be repeated'
            cand --allow-env 'Let manifests read only these variables of the environment; can be repeated'
            cand --parallel 'Requests at once, to each backend [default: adapts to the server]'
            cand --timeout 'Time for the whole run, such as 90s or 5m'
            cand --output 'Text for people, or JSON: one document, or one object a line'
            cand --color 'Whether to colour; auto: in a terminal, unless NO_COLOR is set'
            cand -v 'Show objects in sync too; twice: log requests'
            cand --verbose 'Show objects in sync too; twice: log requests'
            cand -q 'No progress, no talk: the result only'
            cand --quiet 'No progress, no talk: the result only'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'trueup;delete'= {
            cand -f 'A file or folder of manifests, or - for standard input; can be repeated'
            cand --file 'A file or folder of manifests, or - for standard input; can be repeated'
            cand -l 'Objects with these labels: app=web,tier!=db; can be repeated, all must hold'
            cand --selector 'Objects with these labels: app=web,tier!=db; can be repeated, all must hold'
            cand --only 'Only objects whose Kind/name matches; can be repeated'
            cand --exclude 'No objects whose Kind/name matches; can be repeated'
            cand --backends 'Take Backend documents from here and nowhere else; can be repeated'
            cand --allow-env 'Let manifests read only these variables of the environment; can be repeated'
            cand --parallel 'Requests at once, to each backend [default: adapts to the server]'
            cand --timeout 'Time for the whole run, such as 90s or 5m'
            cand --output 'Text for people, or JSON: one document, or one object a line'
            cand --color 'Whether to colour; auto: in a terminal, unless NO_COLOR is set'
            cand --yes 'Write without asking'
            cand -v 'Show objects in sync too; twice: log requests'
            cand --verbose 'Show objects in sync too; twice: log requests'
            cand -q 'No progress, no talk: the result only'
            cand --quiet 'No progress, no talk: the result only'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'trueup;serve'= {
            cand --listen 'Address and port to listen on; port 0 takes any free one'
            cand --store 'Folder that keeps the objects'
            cand --faults 'Faults to inject, for tests'
            cand --token-env 'Variable of the environment that holds the token which clients must send'
            cand --output 'Text for people, or JSON: one document, or one object a line'
            cand --color 'Whether to colour; auto: in a terminal, unless NO_COLOR is set'
            cand --no-sync 'Do not wait for the disk before answering a write: faster, and a crash of the machine may lose some'
            cand -v 'Show objects in sync too; twice: log requests'
            cand --verbose 'Show objects in sync too; twice: log requests'
            cand -q 'No progress, no talk: the result only'
            cand --quiet 'No progress, no talk: the result only'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'trueup;completions'= {
            cand --output 'Text for people, or JSON: one document, or one object a line'
            cand --color 'Whether to colour; auto: in a terminal, unless NO_COLOR is set'
            cand -v 'Show objects in sync too; twice: log requests'
            cand --verbose 'Show objects in sync too; twice: log requests'
            cand -q 'No progress, no talk: the result only'
            cand --quiet 'No progress, no talk: the result only'
            cand -h 'Print help'
            cand --help 'Print help'
        }
    ]
    $completions[$command]
}
