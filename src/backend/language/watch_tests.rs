//! `watch` as it is written: what it becomes, and what is said of it.

use std::time::Duration;

use super::testing::{kind, problems};
use crate::core::feed::{Watch, WatchBy};
use crate::core::identity::Key;

fn thing(watch: &str) -> String {
    format!(
        "{{parent: {{zone: none}}, key: {{name: .name}}, list: 'GET /z/{{zone}}', read: list, watch: {watch}}}"
    )
}

fn watch(text: &str) -> Watch {
    kind(&thing(text)).watch.expect("a feed")
}

#[test]
fn a_feed_in_few_words_has_sensible_values() {
    let feed = watch("{request: 'GET /z/{zone}/events', by: sse}");
    assert_eq!((feed.by, feed.replay, feed.silence()), (WatchBy::Sse, false, Duration::from_secs(60)));
    let key = Key::new(vec![("zone".into(), "a".into()), ("name".into(), "b".into())]);
    assert_eq!(feed.scope(&key), Key::new(vec![("zone".into(), "a".into())]));
    let whole = watch("{request: GET /events, by: lines, heartbeat: 15s}");
    assert_eq!((whole.scope(&key).parts().len(), whole.silence()), (0, Duration::from_secs(45)));
    let poll =
        watch("{request: 'GET /events?index={position}', by: poll, position: '$headers.index', hold: 55s}");
    assert_eq!((poll.replay, poll.silence()), (true, Duration::from_secs(65)));
}

#[test]
fn kubernetes_is_asked_for_bookmarks_from_a_position() {
    let feed = watch("{request: 'GET /api/v1/things?watch=1&labelSelector=x', by: kubernetes}");
    let query: Vec<String> = feed.op.query.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(
        query,
        ["watch=1", "labelSelector=x", "allowWatchBookmarks=true", "resourceVersion={position}"]
    );
    assert!(feed.replay && feed.says_position());
}

#[test]
fn a_webhook_is_a_filter_and_no_feed() {
    let kind = kind(&thing("{by: webhook, key: '{zone: .z, name: .n}'}"));
    assert!(kind.watch.is_none());
    assert_eq!(kind.hook.expect("a filter").text(), "{zone: .z, name: .n}");
}

#[test]
fn what_is_wrong_with_a_feed_is_said_with_what_to_do() {
    for (text, want, hint) in [
        ("GET /events", "`watch` is a map with `request` and `by`", "as in {request: GET /events, by: sse}"),
        ("{by: sse}", "`watch` has no `request`", ""),
        ("{request: GET /e}", "`watch` has no `by`", "sse, lines, poll, kubernetes or webhook"),
        ("{request: GET /e, by: see}", "a feed is not told by `see`", "`sse`"),
        ("{request: GET /e, by: sse, since: 1}", "`watch` has no `since`", ""),
        ("{request: GET /e, by: sse, key: '.['}", "`key`: filter `.[`", ""),
        (
            "{request: GET /e, by: sse, key: {name: .name}}",
            "`key` is a jq filter, as a text, not a map",
            "quotes",
        ),
        ("{request: 'GET /e/{name}', by: sse}", "a feed is of many objects, and `name` tells one", "parents"),
        (
            "{request: POST /e, body: '{only: $key.name}', by: sse}",
            "a feed is of many objects, and `name` tells one",
            "parents",
        ),
        ("{request: 'GET /e/{zon}', by: sse}", "`{zon}` in `watch` has no source", "`zone`"),
        ("{request: 'GET /e/{zone.id}', by: sse}", "`zone` is not a parent with a kind", ""),
        ("{request: 'GET /e/{id}', by: sse}", "`{id}` in `watch` has no source", ""),
        (
            "{request: 'GET /e/{position}', by: sse}",
            "`{position}` in the path of `watch`",
            "the query or a header",
        ),
        (
            "{request: 'GET /e?s={position}', by: lines}",
            "`{position}` in `watch` has no source",
            "`position`",
        ),
        ("{request: GET /e, by: lines, replay: true}", "needs a position to go on from", "`position`"),
        ("{request: GET /e, by: lines, position: .at}", "does not say the position", "{position}"),
        ("{request: 'GET /e?i={position}', by: poll}", "`watch` by poll has no `position`", "`$headers`"),
        ("{request: DELETE /e, by: sse}", "`watch` by DELETE could change something", "GET or a POST"),
        ("{request: GET /e, by: sse, heartbeat: 3h}", "`heartbeat` of `watch` is 10m at most", ""),
        ("{request: GET /e, by: sse, heartbeat: soon}", "`heartbeat` is a duration", ""),
        ("{request: GET /e, by: sse, hold: 3s}", "`hold` of `watch` has no use with `by: sse`", ""),
        ("{by: webhook}", "`watch` by webhook has no `key`", "`key: .name`"),
        (
            "{by: webhook, key: .name, request: GET /e}",
            "`request` of `watch` has no use with `by: webhook`",
            "",
        ),
        ("{by: webhook, key: .name, hold: 3s}", "`hold` of `watch` has no use with `by: webhook`", ""),
        ("{by: webhook, key: '.['}", "`key`: filter `.[`", ""),
        ("{request: GET /e, by: sse, replay: maybe}", "`replay` is `true` or `false`", ""),
    ] {
        let found = problems(&format!("{{T: {}}}", thing(text)));
        let found: Vec<_> =
            found.iter().map(|p| (&*p.message, p.hint.as_deref().unwrap_or_default())).collect();
        let (message, said) = *found.first().unwrap_or_else(|| panic!("{text} has no problem"));
        assert!(message.contains(want) && said.contains(hint), "{text}: {found:?}");
        assert_eq!(found.len(), 1, "{text}: {found:?}");
    }
    let elsewhere = problems("{T: {key: {name: .name}, list: 'GET /t?since={position}'}}");
    assert_eq!(elsewhere.len(), 1, "{elsewhere:?}");
    assert_eq!(elsewhere[0].message, "`{position}` in `list` has no source");
}

#[test]
fn the_examples_of_the_reference_are_feeds() {
    let page = include_str!("../../../docs/backend/feeds.md");
    let examples: Vec<&str> =
        page.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    let kinds = examples.iter().flat_map(|example| {
        let record: serde_json::Value = serde_yaml::from_str(example).expect("YAML");
        super::testing::kinds(&record.to_string())
    });
    assert_eq!(kinds.filter(|kind| kind.watch.is_some()).count(), 2);
}
