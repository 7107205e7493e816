
using namespace System.Management.Automation
using namespace System.Management.Automation.Language

Register-ArgumentCompleter -Native -CommandName 'trueup' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $commandElements = $commandAst.CommandElements
    $command = @(
        'trueup'
        for ($i = 1; $i -lt $commandElements.Count; $i++) {
            $element = $commandElements[$i]
            if ($element -isnot [StringConstantExpressionAst] -or
                $element.StringConstantType -ne [StringConstantType]::BareWord -or
                $element.Value.StartsWith('-') -or
                $element.Value -eq $wordToComplete) {
                break
        }
        $element.Value
    }) -join ';'

    $completions = @(switch ($command) {
        'trueup' {
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Text for people, or JSON: one document, or one object a line')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'Whether to colour; auto: in a terminal, unless NO_COLOR is set')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show objects in sync too; twice: log requests')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show objects in sync too; twice: log requests')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No progress, no talk: the result only')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No progress, no talk: the result only')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('plan', 'plan', [CompletionResultType]::ParameterValue, 'Show what would change, field by field; writes nothing')
            [CompletionResult]::new('drift', 'drift', [CompletionResultType]::ParameterValue, 'Check for differences in CI: exit code 2 when there are any; writes nothing')
            [CompletionResult]::new('apply', 'apply', [CompletionResultType]::ParameterValue, 'Make the server match the files, and read it back')
            [CompletionResult]::new('validate', 'validate', [CompletionResultType]::ParameterValue, 'Check the files without a network')
            [CompletionResult]::new('get', 'get', [CompletionResultType]::ParameterValue, 'Show live objects')
            [CompletionResult]::new('export', 'export', [CompletionResultType]::ParameterValue, 'Write live objects as manifests whose plan is empty')
            [CompletionResult]::new('explain', 'explain', [CompletionResultType]::ParameterValue, 'Tell what is known of a kind, or why an object''s plan is what it is; writes nothing')
            [CompletionResult]::new('probe', 'probe', [CompletionResultType]::ParameterValue, 'Hold a backend against live answers; writes nothing')
            [CompletionResult]::new('delete', 'delete', [CompletionResultType]::ParameterValue, 'Delete what the files name, in reverse order')
            [CompletionResult]::new('serve', 'serve', [CompletionResultType]::ParameterValue, 'Run the built-in REST server')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print the completions for a shell')
            break
        }
        'trueup;plan' {
            [CompletionResult]::new('--out', '--out', [CompletionResultType]::ParameterName, 'Save the plan to this file, for `trueup apply FILE`')
            [CompletionResult]::new('--show', '--show', [CompletionResultType]::ParameterName, 'Show a saved plan, offline; -f is not needed')
            [CompletionResult]::new('--replace', '--replace', [CompletionResultType]::ParameterName, 'Allow this object to be deleted and created again; can be repeated')
            [CompletionResult]::new('--rotate', '--rotate', [CompletionResultType]::ParameterName, 'Send the write-only values of this object again; can be repeated')
            [CompletionResult]::new('--force-conflicts', '--force-conflicts', [CompletionResultType]::ParameterName, 'Overwrite what somebody else changed at this path; can be repeated, all of an object must be named')
            [CompletionResult]::new('--max-deletes', '--max-deletes', [CompletionResultType]::ParameterName, 'So many objects of a Set or a ReplicaSet may be deleted [default: its `max-deletes`]')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'A file or folder of manifests, or - for standard input; can be repeated')
            [CompletionResult]::new('--file', '--file', [CompletionResultType]::ParameterName, 'A file or folder of manifests, or - for standard input; can be repeated')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Objects with these labels: app=web,tier!=db; can be repeated, all must hold')
            [CompletionResult]::new('--selector', '--selector', [CompletionResultType]::ParameterName, 'Objects with these labels: app=web,tier!=db; can be repeated, all must hold')
            [CompletionResult]::new('--only', '--only', [CompletionResultType]::ParameterName, 'Only objects whose Kind/name matches; can be repeated')
            [CompletionResult]::new('--exclude', '--exclude', [CompletionResultType]::ParameterName, 'No objects whose Kind/name matches; can be repeated')
            [CompletionResult]::new('--backends', '--backends', [CompletionResultType]::ParameterName, 'Take Backend documents from here and nowhere else; can be repeated')
            [CompletionResult]::new('--allow-env', '--allow-env', [CompletionResultType]::ParameterName, 'Let manifests read only these variables of the environment; can be repeated')
            [CompletionResult]::new('--base', '--base', [CompletionResultType]::ParameterName, 'What the same files said before: a revision of their Git repository, or a folder')
            [CompletionResult]::new('--parallel', '--parallel', [CompletionResultType]::ParameterName, 'Requests at once, to each backend [default: adapts to the server]')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Time for the whole run, such as 90s or 5m')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Text for people, or JSON: one document, or one object a line')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'Whether to colour; auto: in a terminal, unless NO_COLOR is set')
            [CompletionResult]::new('--detailed-exitcode', '--detailed-exitcode', [CompletionResultType]::ParameterName, 'Exit with 2 when there are differences, or changes were made')
            [CompletionResult]::new('--suggest', '--suggest', [CompletionResultType]::ParameterName, 'Print the lines for the backend that would accept what the server makes of a value')
            [CompletionResult]::new('--prune', '--prune', [CompletionResultType]::ParameterName, 'Delete what is in the scope of a Set and in no document')
            [CompletionResult]::new('--allow-empty', '--allow-empty', [CompletionResultType]::ParameterName, 'Let all objects of a Set be pruned, none being left in the documents')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show objects in sync too; twice: log requests')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show objects in sync too; twice: log requests')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No progress, no talk: the result only')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No progress, no talk: the result only')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'trueup;drift' {
            [CompletionResult]::new('--fail-on', '--fail-on', [CompletionResultType]::ParameterName, 'What makes the exit code 2; can be repeated [default: difference]')
            [CompletionResult]::new('--max-deletes', '--max-deletes', [CompletionResultType]::ParameterName, 'So many objects of a Set or a ReplicaSet may be deleted [default: its `max-deletes`]')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'A file or folder of manifests, or - for standard input; can be repeated')
            [CompletionResult]::new('--file', '--file', [CompletionResultType]::ParameterName, 'A file or folder of manifests, or - for standard input; can be repeated')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Objects with these labels: app=web,tier!=db; can be repeated, all must hold')
            [CompletionResult]::new('--selector', '--selector', [CompletionResultType]::ParameterName, 'Objects with these labels: app=web,tier!=db; can be repeated, all must hold')
            [CompletionResult]::new('--only', '--only', [CompletionResultType]::ParameterName, 'Only objects whose Kind/name matches; can be repeated')
            [CompletionResult]::new('--exclude', '--exclude', [CompletionResultType]::ParameterName, 'No objects whose Kind/name matches; can be repeated')
            [CompletionResult]::new('--backends', '--backends', [CompletionResultType]::ParameterName, 'Take Backend documents from here and nowhere else; can be repeated')
            [CompletionResult]::new('--allow-env', '--allow-env', [CompletionResultType]::ParameterName, 'Let manifests read only these variables of the environment; can be repeated')
            [CompletionResult]::new('--base', '--base', [CompletionResultType]::ParameterName, 'What the same files said before: a revision of their Git repository, or a folder')
            [CompletionResult]::new('--parallel', '--parallel', [CompletionResultType]::ParameterName, 'Requests at once, to each backend [default: adapts to the server]')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Time for the whole run, such as 90s or 5m')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Text for people, or JSON: one document, or one object a line')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'Whether to colour; auto: in a terminal, unless NO_COLOR is set')
            [CompletionResult]::new('--prune', '--prune', [CompletionResultType]::ParameterName, 'Delete what is in the scope of a Set and in no document')
            [CompletionResult]::new('--allow-empty', '--allow-empty', [CompletionResultType]::ParameterName, 'Let all objects of a Set be pruned, none being left in the documents')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show objects in sync too; twice: log requests')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show objects in sync too; twice: log requests')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No progress, no talk: the result only')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No progress, no talk: the result only')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'trueup;apply' {
            [CompletionResult]::new('--replace', '--replace', [CompletionResultType]::ParameterName, 'Allow this object to be deleted and created again; can be repeated')
            [CompletionResult]::new('--rotate', '--rotate', [CompletionResultType]::ParameterName, 'Send the write-only values of this object again; can be repeated')
            [CompletionResult]::new('--force-conflicts', '--force-conflicts', [CompletionResultType]::ParameterName, 'Overwrite what somebody else changed at this path; can be repeated, all of an object must be named')
            [CompletionResult]::new('--record', '--record', [CompletionResultType]::ParameterName, 'Once all is settled, move this Git ref to the last commit, to be a later base')
            [CompletionResult]::new('--max-deletes', '--max-deletes', [CompletionResultType]::ParameterName, 'So many objects of a Set or a ReplicaSet may be deleted [default: its `max-deletes`]')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'A file or folder of manifests, or - for standard input; can be repeated')
            [CompletionResult]::new('--file', '--file', [CompletionResultType]::ParameterName, 'A file or folder of manifests, or - for standard input; can be repeated')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Objects with these labels: app=web,tier!=db; can be repeated, all must hold')
            [CompletionResult]::new('--selector', '--selector', [CompletionResultType]::ParameterName, 'Objects with these labels: app=web,tier!=db; can be repeated, all must hold')
            [CompletionResult]::new('--only', '--only', [CompletionResultType]::ParameterName, 'Only objects whose Kind/name matches; can be repeated')
            [CompletionResult]::new('--exclude', '--exclude', [CompletionResultType]::ParameterName, 'No objects whose Kind/name matches; can be repeated')
            [CompletionResult]::new('--backends', '--backends', [CompletionResultType]::ParameterName, 'Take Backend documents from here and nowhere else; can be repeated')
            [CompletionResult]::new('--allow-env', '--allow-env', [CompletionResultType]::ParameterName, 'Let manifests read only these variables of the environment; can be repeated')
            [CompletionResult]::new('--base', '--base', [CompletionResultType]::ParameterName, 'What the same files said before: a revision of their Git repository, or a folder')
            [CompletionResult]::new('--parallel', '--parallel', [CompletionResultType]::ParameterName, 'Requests at once, to each backend [default: adapts to the server]')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Time for the whole run, such as 90s or 5m')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Text for people, or JSON: one document, or one object a line')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'Whether to colour; auto: in a terminal, unless NO_COLOR is set')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Write without asking')
            [CompletionResult]::new('--detailed-exitcode', '--detailed-exitcode', [CompletionResultType]::ParameterName, 'Exit with 2 when there are differences, or changes were made')
            [CompletionResult]::new('--suggest', '--suggest', [CompletionResultType]::ParameterName, 'Print the lines for the backend that would accept what the server makes of a value')
            [CompletionResult]::new('--prune', '--prune', [CompletionResultType]::ParameterName, 'Delete what is in the scope of a Set and in no document')
            [CompletionResult]::new('--allow-empty', '--allow-empty', [CompletionResultType]::ParameterName, 'Let all objects of a Set be pruned, none being left in the documents')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show objects in sync too; twice: log requests')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show objects in sync too; twice: log requests')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No progress, no talk: the result only')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No progress, no talk: the result only')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'trueup;validate' {
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'A file or folder of manifests, or - for standard input; can be repeated')
            [CompletionResult]::new('--file', '--file', [CompletionResultType]::ParameterName, 'A file or folder of manifests, or - for standard input; can be repeated')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Objects with these labels: app=web,tier!=db; can be repeated, all must hold')
            [CompletionResult]::new('--selector', '--selector', [CompletionResultType]::ParameterName, 'Objects with these labels: app=web,tier!=db; can be repeated, all must hold')
            [CompletionResult]::new('--only', '--only', [CompletionResultType]::ParameterName, 'Only objects whose Kind/name matches; can be repeated')
            [CompletionResult]::new('--exclude', '--exclude', [CompletionResultType]::ParameterName, 'No objects whose Kind/name matches; can be repeated')
            [CompletionResult]::new('--backends', '--backends', [CompletionResultType]::ParameterName, 'Take Backend documents from here and nowhere else; can be repeated')
            [CompletionResult]::new('--allow-env', '--allow-env', [CompletionResultType]::ParameterName, 'Let manifests read only these variables of the environment; can be repeated')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Text for people, or JSON: one document, or one object a line')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'Whether to colour; auto: in a terminal, unless NO_COLOR is set')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show objects in sync too; twice: log requests')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show objects in sync too; twice: log requests')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No progress, no talk: the result only')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No progress, no talk: the result only')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'trueup;get' {
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'A file or folder of manifests, or - for standard input; can be repeated')
            [CompletionResult]::new('--file', '--file', [CompletionResultType]::ParameterName, 'A file or folder of manifests, or - for standard input; can be repeated')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Objects with these labels: app=web,tier!=db; can be repeated, all must hold')
            [CompletionResult]::new('--selector', '--selector', [CompletionResultType]::ParameterName, 'Objects with these labels: app=web,tier!=db; can be repeated, all must hold')
            [CompletionResult]::new('--only', '--only', [CompletionResultType]::ParameterName, 'Only objects whose Kind/name matches; can be repeated')
            [CompletionResult]::new('--exclude', '--exclude', [CompletionResultType]::ParameterName, 'No objects whose Kind/name matches; can be repeated')
            [CompletionResult]::new('--backends', '--backends', [CompletionResultType]::ParameterName, 'Take Backend documents from here and nowhere else; can be repeated')
            [CompletionResult]::new('--allow-env', '--allow-env', [CompletionResultType]::ParameterName, 'Let manifests read only these variables of the environment; can be repeated')
            [CompletionResult]::new('--parallel', '--parallel', [CompletionResultType]::ParameterName, 'Requests at once, to each backend [default: adapts to the server]')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Time for the whole run, such as 90s or 5m')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Text for people, or JSON: one document, or one object a line')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'Whether to colour; auto: in a terminal, unless NO_COLOR is set')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show objects in sync too; twice: log requests')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show objects in sync too; twice: log requests')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No progress, no talk: the result only')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No progress, no talk: the result only')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'trueup;export' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Write one file a kind into this folder, in place of standard output')
            [CompletionResult]::new('--out', '--out', [CompletionResultType]::ParameterName, 'Write one file a kind into this folder, in place of standard output')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'A file or folder of manifests, or - for standard input; can be repeated')
            [CompletionResult]::new('--file', '--file', [CompletionResultType]::ParameterName, 'A file or folder of manifests, or - for standard input; can be repeated')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Objects with these labels: app=web,tier!=db; can be repeated, all must hold')
            [CompletionResult]::new('--selector', '--selector', [CompletionResultType]::ParameterName, 'Objects with these labels: app=web,tier!=db; can be repeated, all must hold')
            [CompletionResult]::new('--only', '--only', [CompletionResultType]::ParameterName, 'Only objects whose Kind/name matches; can be repeated')
            [CompletionResult]::new('--exclude', '--exclude', [CompletionResultType]::ParameterName, 'No objects whose Kind/name matches; can be repeated')
            [CompletionResult]::new('--backends', '--backends', [CompletionResultType]::ParameterName, 'Take Backend documents from here and nowhere else; can be repeated')
            [CompletionResult]::new('--allow-env', '--allow-env', [CompletionResultType]::ParameterName, 'Let manifests read only these variables of the environment; can be repeated')
            [CompletionResult]::new('--parallel', '--parallel', [CompletionResultType]::ParameterName, 'Requests at once, to each backend [default: adapts to the server]')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Time for the whole run, such as 90s or 5m')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Text for people, or JSON: one document, or one object a line')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'Whether to colour; auto: in a terminal, unless NO_COLOR is set')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show objects in sync too; twice: log requests')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show objects in sync too; twice: log requests')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No progress, no talk: the result only')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No progress, no talk: the result only')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'trueup;explain' {
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'A file or folder of manifests, or - for standard input; can be repeated')
            [CompletionResult]::new('--file', '--file', [CompletionResultType]::ParameterName, 'A file or folder of manifests, or - for standard input; can be repeated')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Objects with these labels: app=web,tier!=db; can be repeated, all must hold')
            [CompletionResult]::new('--selector', '--selector', [CompletionResultType]::ParameterName, 'Objects with these labels: app=web,tier!=db; can be repeated, all must hold')
            [CompletionResult]::new('--only', '--only', [CompletionResultType]::ParameterName, 'Only objects whose Kind/name matches; can be repeated')
            [CompletionResult]::new('--exclude', '--exclude', [CompletionResultType]::ParameterName, 'No objects whose Kind/name matches; can be repeated')
            [CompletionResult]::new('--backends', '--backends', [CompletionResultType]::ParameterName, 'Take Backend documents from here and nowhere else; can be repeated')
            [CompletionResult]::new('--allow-env', '--allow-env', [CompletionResultType]::ParameterName, 'Let manifests read only these variables of the environment; can be repeated')
            [CompletionResult]::new('--base', '--base', [CompletionResultType]::ParameterName, 'What the same files said before: a revision of their Git repository, or a folder')
            [CompletionResult]::new('--parallel', '--parallel', [CompletionResultType]::ParameterName, 'Requests at once, to each backend [default: adapts to the server]')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Time for the whole run, such as 90s or 5m')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Text for people, or JSON: one document, or one object a line')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'Whether to colour; auto: in a terminal, unless NO_COLOR is set')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show objects in sync too; twice: log requests')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show objects in sync too; twice: log requests')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No progress, no talk: the result only')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No progress, no talk: the result only')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'trueup;probe' {
            [CompletionResult]::new('--limit', '--limit', [CompletionResultType]::ParameterName, 'Objects of each kind that are read by themselves')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'A file or folder of manifests, or - for standard input; can be repeated')
            [CompletionResult]::new('--file', '--file', [CompletionResultType]::ParameterName, 'A file or folder of manifests, or - for standard input; can be repeated')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Objects with these labels: app=web,tier!=db; can be repeated, all must hold')
            [CompletionResult]::new('--selector', '--selector', [CompletionResultType]::ParameterName, 'Objects with these labels: app=web,tier!=db; can be repeated, all must hold')
            [CompletionResult]::new('--only', '--only', [CompletionResultType]::ParameterName, 'Only objects whose Kind/name matches; can be repeated')
            [CompletionResult]::new('--exclude', '--exclude', [CompletionResultType]::ParameterName, 'No objects whose Kind/name matches; can be repeated')
            [CompletionResult]::new('--backends', '--backends', [CompletionResultType]::ParameterName, 'Take Backend documents from here and nowhere else; can be repeated')
            [CompletionResult]::new('--allow-env', '--allow-env', [CompletionResultType]::ParameterName, 'Let manifests read only these variables of the environment; can be repeated')
            [CompletionResult]::new('--parallel', '--parallel', [CompletionResultType]::ParameterName, 'Requests at once, to each backend [default: adapts to the server]')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Time for the whole run, such as 90s or 5m')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Text for people, or JSON: one document, or one object a line')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'Whether to colour; auto: in a terminal, unless NO_COLOR is set')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show objects in sync too; twice: log requests')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show objects in sync too; twice: log requests')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No progress, no talk: the result only')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No progress, no talk: the result only')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'trueup;delete' {
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'A file or folder of manifests, or - for standard input; can be repeated')
            [CompletionResult]::new('--file', '--file', [CompletionResultType]::ParameterName, 'A file or folder of manifests, or - for standard input; can be repeated')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Objects with these labels: app=web,tier!=db; can be repeated, all must hold')
            [CompletionResult]::new('--selector', '--selector', [CompletionResultType]::ParameterName, 'Objects with these labels: app=web,tier!=db; can be repeated, all must hold')
            [CompletionResult]::new('--only', '--only', [CompletionResultType]::ParameterName, 'Only objects whose Kind/name matches; can be repeated')
            [CompletionResult]::new('--exclude', '--exclude', [CompletionResultType]::ParameterName, 'No objects whose Kind/name matches; can be repeated')
            [CompletionResult]::new('--backends', '--backends', [CompletionResultType]::ParameterName, 'Take Backend documents from here and nowhere else; can be repeated')
            [CompletionResult]::new('--allow-env', '--allow-env', [CompletionResultType]::ParameterName, 'Let manifests read only these variables of the environment; can be repeated')
            [CompletionResult]::new('--parallel', '--parallel', [CompletionResultType]::ParameterName, 'Requests at once, to each backend [default: adapts to the server]')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Time for the whole run, such as 90s or 5m')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Text for people, or JSON: one document, or one object a line')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'Whether to colour; auto: in a terminal, unless NO_COLOR is set')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Write without asking')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show objects in sync too; twice: log requests')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show objects in sync too; twice: log requests')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No progress, no talk: the result only')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No progress, no talk: the result only')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'trueup;serve' {
            [CompletionResult]::new('--listen', '--listen', [CompletionResultType]::ParameterName, 'Address and port to listen on; port 0 takes any free one')
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'Folder that keeps the objects')
            [CompletionResult]::new('--faults', '--faults', [CompletionResultType]::ParameterName, 'Faults to inject, for tests')
            [CompletionResult]::new('--token-env', '--token-env', [CompletionResultType]::ParameterName, 'Variable of the environment that holds the token which clients must send')
            [CompletionResult]::new('--status-apart', '--status-apart', [CompletionResultType]::ParameterName, 'Collections whose items keep `status` apart, by name, with commas; the store remembers them')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Text for people, or JSON: one document, or one object a line')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'Whether to colour; auto: in a terminal, unless NO_COLOR is set')
            [CompletionResult]::new('--require-preconditions', '--require-preconditions', [CompletionResultType]::ParameterName, 'Refuse changes and deletes without a precondition (428)')
            [CompletionResult]::new('--no-sync', '--no-sync', [CompletionResultType]::ParameterName, 'Do not wait for the disk before answering a write: faster, and a crash of the machine may lose some')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show objects in sync too; twice: log requests')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show objects in sync too; twice: log requests')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No progress, no talk: the result only')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No progress, no talk: the result only')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'trueup;completions' {
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Text for people, or JSON: one document, or one object a line')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'Whether to colour; auto: in a terminal, unless NO_COLOR is set')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show objects in sync too; twice: log requests')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show objects in sync too; twice: log requests')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'No progress, no talk: the result only')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No progress, no talk: the result only')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
