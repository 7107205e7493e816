//! The longer texts of `--help`: examples, each of which works as it stands.

pub const TOP: &str = "\
Examples:
  trueup plan -f manifests/           what would change, field by field, and why
  trueup apply -f manifests/          change it, and read it back
  trueup drift -f manifests/          for CI: exit code 2 when the server differs

Exit codes:
  0 success    1 failed, or unknown    2 differences    3 conflict    4 written and failed
  5 refused    64 wrong usage          65 wrong input   130 interrupted

Every flag has a twin in the environment: TRUEUP_OUTPUT=json is --output json.";

pub const PLAN: &str = "\
Examples:
  trueup plan -f manifests/
  trueup plan -f manifests/ --only 'Queue/*' --output json
  trueup plan -f manifests/ --output markdown           a comment for a pull request
  trueup plan -f manifests/ --out p.plan                to be applied later, elsewhere
  trueup plan --show p.plan
  helm template chart | trueup plan -f - --backends backends.yaml

Nothing is ever written. With --base each difference says who made it: pending, drift, or a conflict.
With --detailed-exitcode the exit code is 2 when there are differences.";

pub const DRIFT: &str = "\
Examples:
  trueup drift -f manifests/
  trueup drift -f manifests/ -l team=payments --output ndjson
  trueup drift -f manifests/ --output junit > drift.xml
  trueup drift -f manifests/ --base production --fail-on drift    what others changed since it was applied
  trueup drift -f manifests/ --fail-on difference,extra

Nothing is ever written. The exit code is 2 when the server differs, 0 when all is in sync.";

pub const APPLY: &str = "\
Examples:
  trueup apply -f manifests/                            shows the plan, asks, writes
  trueup apply -f manifests/ --yes                      in CI
  trueup apply p.plan                                   what `plan --out p.plan` saved, and nothing else
  trueup apply -f manifests/ --replace Queue///orders   where replacing is the only way
  trueup apply -f manifests/ --force-conflicts Queue///orders:ttl   overwrites what somebody else changed there
  trueup apply -f manifests/ --base production --record production --yes
  trueup apply -f manifests/ --prune --max-deletes 20   deletes what a Set claims and no document names

Without a terminal and without --yes nothing is written, and the exit code is 5 unless all is in sync.
A saved plan is the consent: nobody is asked. What has moved since it was made is refused, object by object.";

pub const WATCH: &str = "\
Examples:
  trueup watch -f manifests/                            until a signal; what differs is put right
  trueup watch -f manifests/ --dry-run                  only tells what differs
  trueup watch -f manifests/ --once                     one pass, for cron
  trueup watch -f manifests/ --max-changes 100 --status-file /run/trueup.json --listen 9090
  trueup watch -f manifests/ --prune --log ndjson

Nobody is asked. Files are read again when they change; while they are not valid, the last valid ones hold and
nothing is pruned. SIGHUP reads them and looks at everything now. The first SIGTERM or SIGINT lets what is under
way end and exits with 0, the second does not wait (130).";

pub const VALIDATE: &str = "\
Examples:
  trueup validate -f manifests/
  trueup validate -f manifests/ --output json

No request is sent. All errors are shown in one run; the exit code is 65 when there are any.";

pub const GET: &str = "\
Examples:
  trueup get --backends backends.yaml
  trueup get Queue -f manifests/
  trueup get Queue///orders Exchange --backends backends.yaml --output json";

pub const EXPORT: &str = "\
Examples:
  trueup export --backends backends.yaml > manifests.yaml
  trueup export --backends backends.yaml -o manifests/
  trueup export Queue 'Exchange/*/billing*' -f manifests/ --exclude '*/amq.*'

What the server owns, declared defaults and secrets are left out; `plan` on the result shows no difference.
Secrets that are left out are named in comments.";

pub const EXPLAIN: &str = "\
Examples:
  trueup explain Queue -f manifests/             what is known of the kind and its fields, and from where
  trueup explain Queue///orders -f manifests/    why its plan is what it is; reads from the server

Nothing is ever written.";

pub const PROBE: &str = "\
Examples:
  trueup probe --backends backends.yaml
  trueup probe rabbitmq -f manifests/
  trueup probe rabbitmq/Queue --backends backends.yaml --limit 20 --output json

Nothing is ever written. The exit code is 2 when the answers contradict the backend, 1 when a kind
could not be asked for, 0 otherwise: what is only suggested, or not confirmed, changes nothing.";

pub const DELETE: &str = "\
Examples:
  trueup delete -f manifests/old/
  trueup delete -f manifests/ --only 'Queue/*/old-*' --yes

Objects go in reverse order: what needs another goes first.";

pub const STATUS: &str = "\
Examples:
  trueup status --status-file /run/trueup/status.json
  trueup status --url http://127.0.0.1:8081 -v
  trueup status --url http://127.0.0.1:8081 --output json
  trueup status --status-file status.json --fail-on stalled,conflict,dead

What is in trouble comes first. Exit codes: 1 the watch is dead, its files are not valid, or an object fails, is
stalled, unknown or not effective; 3 a conflict or a fight; 2 an object differs, or was not looked at yet; 0 else.";

pub const SERVE: &str = "\
Examples:
  trueup serve --store ./data
  API_TOKEN=secret trueup serve --store ./data --listen 127.0.0.1:9000 --token-env API_TOKEN
  trueup serve --store ./data --status-apart apps,jobs --require-preconditions

A well-behaved REST API for any kind, to try things out on and to test against.";

pub const COMPLETIONS: &str = "\
Examples:
  trueup completions bash > ~/.local/share/bash-completion/completions/trueup
  trueup completions zsh > ~/.zfunc/_trueup
  trueup completions fish > ~/.config/fish/completions/trueup.fish";
