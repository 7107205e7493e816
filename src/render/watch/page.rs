//! The status document as a page: counts first, trouble first. One file without a script, that asks for nothing from
//! anywhere.

use url::form_urlencoded;

use super::super::markup::Markup;
use super::super::words::{counted, grouped};
use super::document::{Desired, Document, Object, Position, State};
use super::time;
use super::trouble::{Trouble, worst_first};

/// The style, which stands in the page.
const STYLE: &str = include_str!("page.css");

/// What a browser may do with the page: take the style that stands in it, by its SHA-256, send its forms to where it
/// came from, and nothing else.
pub const POLICY: &str = "default-src 'none'; style-src 'sha256-AeeT6TFI0f7azJHAM3CAcJIfV19WtuXhDtCI7/jjSfI='; \
                          form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Objects on one page.
const PAGE: usize = 200;
/// Seconds between two looks of a page that is left open.
const REFRESH: &str = "15";

/// What the query of the address asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ask {
    /// Only objects that are not well in this condition.
    pub condition: Option<String>,
    /// Only objects in whose kind, name, backend or file this stands.
    pub text: String,
    /// The first object.
    pub from: usize,
    /// The page stays as it is.
    pub paused: bool,
}

impl Ask {
    /// Reads a query; what it does not know, it ignores.
    pub fn of(query: &str) -> Ask {
        let mut ask = Ask::default();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match &*name {
                "condition" if !value.is_empty() => ask.condition = Some(value.into_owned()),
                "q" => ask.text = value.trim().to_owned(),
                "from" => ask.from = value.parse().unwrap_or_default(),
                "paused" => ask.paused = true,
                _ => {}
            }
        }
        ask
    }

    /// The query that asks for this.
    fn query(&self) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        if let Some(condition) = &self.condition {
            query.append_pair("condition", condition);
        }
        if !self.text.is_empty() {
            query.append_pair("q", &self.text);
        }
        if self.from > 0 {
            query.append_pair("from", &self.from.to_string());
        }
        if self.paused {
            query.append_pair("paused", "1");
        }
        format!("?{}", query.finish())
    }

    fn picks(&self, object: &Object) -> bool {
        let asked = self.condition.as_deref().is_none_or(|condition| is_unwell(object, condition));
        let text = self.text.to_lowercase();
        let has = |place: &str| place.to_lowercase().contains(&text);
        asked
            && (text.is_empty()
                || has(&format!("{}/{}", object.identity.kind, object.name))
                || has(&object.identity.backend)
                || has(&object.position.file))
    }
}

/// Whether the object is in trouble by this condition: not so for what is to be so, and so for what is not to be.
fn is_unwell(object: &Object, condition: &str) -> bool {
    let state = object.conditions.iter().find(|state| state.kind == condition);
    state.is_some_and(is_trouble)
}

fn is_trouble(state: &State) -> bool {
    let wanted = matches!(&*state.kind, "Synced" | "Ready");
    (state.status == "True") != wanted
}

/// The page. `may_resync`: it has a button to look at everything again.
pub fn page(document: &Document, ask: &Ask, may_resync: bool) -> String {
    let mut html = Markup::default();
    html.raw("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
    html.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">");
    if !ask.paused {
        html.raw("<meta http-equiv=\"refresh\" content=\"").raw(REFRESH).raw("\">");
    }
    html.raw("<title>").text(&headline(document).1).raw(" – trueup</title><style>").raw(STYLE);
    html.raw("</style></head><body>");
    head(&mut html, document);
    html.raw("<main>");
    counts(&mut html, document, ask);
    notes(&mut html, document);
    tools(&mut html, ask, may_resync);
    objects(&mut html, document, ask);
    html.raw("</main></body></html>\n");
    html.into_text()
}

/// How all is, in one sentence, and how it looks.
fn headline(document: &Document) -> (&'static str, String) {
    let total = document.objects.len();
    let unwell = document.objects.iter().filter(|object| Trouble::of(object) != Trouble::Ok).count();
    match (total, unwell) {
        (0, _) => ("warn", "No objects".into()),
        (total, 0) => ("good", format!("All {} in sync", grouped(total as u64))),
        (total, unwell) => {
            let verb = if unwell == 1 { "needs" } else { "need" };
            ("bad", format!("{} of {} {verb} a look", grouped(unwell as u64), grouped(total as u64)))
        }
    }
}

fn head(html: &mut Markup, document: &Document) {
    let (look, words) = headline(document);
    html.raw("<header><h1 class=\"").raw(look).raw("\">").text(&words).raw("</h1><p class=\"facts\">");
    let instance = &document.instance;
    html.raw("<span>trueup ").text(&instance.version).raw("</span>");
    if !instance.name.is_empty() {
        html.raw("<span>").text(&instance.name).raw("</span>");
    }
    if instance.role != "alone" {
        html.raw("<span>").text(&instance.role).raw("</span>");
    }
    if instance.dry_run {
        html.raw("<span class=\"warn\">dry run: writes nothing</span>");
    }
    html.raw("<span>since ").text(&instance.started).raw("</span>");
    html.raw("<span>as of ").text(&document.time).raw("</span>");
    let summary = &document.summary;
    html.raw("<span>").text(&many(summary.writes, "write")).raw("</span>");
    html.raw("<span>").text(&many(summary.missed_events, "missed event")).raw("</span>");
    html.raw("<span>").number(summary.queued as u64).raw(" queued, ");
    html.number(summary.running as u64).raw(" running</span></p></header>");
}

fn many(count: u64, noun: &str) -> String {
    counted(usize::try_from(count).unwrap_or(usize::MAX), noun)
}

/// What holds of the whole.
fn notes(html: &mut Markup, document: &Document) {
    desired(html, &document.desired);
    for target in document.targets.iter().filter(|target| !target.open) {
        let Some(since) = &target.silent_since else { continue };
        html.raw("<div class=\"note bad\"><p>Nothing is heard of <strong>").text(&target.name);
        html.raw("</strong> since ").text(since);
        html.raw(": what is told of its objects was seen before.</p></div>");
    }
    for target in document.targets.iter().filter(|target| target.open) {
        html.raw("<div class=\"note bad\"><p><strong>").text(&target.name);
        html.raw("</strong> is not asked since ").text(&target.since).raw("</p>");
        if let Some(message) = &target.message {
            html.raw("<p>").text(message).raw("</p>");
        }
        if let Some(next) = &target.next_probe {
            html.raw("<p class=\"dim\">next probe ").text(next).raw("</p>");
        }
        html.raw("</div>");
    }
    for feed in document.feeds.iter().filter(|feed| !feed.up && feed.message.is_some()) {
        html.raw("<div class=\"note\"><p><strong>feed of ").text(&feed.name);
        html.raw("</strong> is down since ").text(&feed.since).raw(": its objects are polled</p><p>");
        html.text(feed.message.as_deref().unwrap_or_default()).raw("</p>");
        if let Some(next) = &feed.next_attempt {
            html.raw("<p class=\"dim\">next attempt ").text(next).raw("</p>");
        }
        html.raw("</div>");
    }
    for warning in &document.warnings {
        html.raw("<div class=\"note\"><p>").text(warning).raw("</p></div>");
    }
}

fn desired(html: &mut Markup, desired: &Desired) {
    if desired.valid {
        return;
    }
    html.raw("<div class=\"note bad\"><p><strong>The files are not valid</strong> since ")
        .text(&desired.since);
    html.raw(match desired.loads {
        0 => ": there is nothing to hold.</p>",
        _ => ": the last valid ones hold, and nothing is pruned.</p>",
    });
    for problem in &desired.problems {
        html.raw("<p>");
        if let Some(position) = &problem.position {
            place(html, position);
            html.raw(": ");
        }
        html.text(&problem.message).raw("</p>");
        if let Some(hint) = &problem.hint {
            html.raw("<p class=\"dim\">").text(hint).raw("</p>");
        }
    }
    html.raw("</div>");
}

/// Numbers that are links to their objects.
fn counts(html: &mut Markup, document: &Document, ask: &Ask) {
    const FILTERS: [(Option<&str>, &str, &str); 8] = [
        (None, "All", ""),
        (Some("Synced"), "Not in sync", "bad"),
        (Some("Stalled"), "Stalled", "bad"),
        (Some("Conflict"), "Conflict", "warn"),
        (Some("Fighting"), "Fighting", "warn"),
        (Some("NotEffective"), "Not effective", "bad"),
        (Some("Unknown"), "Unknown", "bad"),
        (Some("Ready"), "Not ready", "warn"),
    ];
    html.raw("<ul class=\"counts\">");
    for (condition, words, look) in FILTERS {
        let asks = Ask { condition: condition.map(str::to_owned), from: 0, ..ask.clone() };
        let number = match condition {
            Some(condition) => document.objects.iter().filter(|object| is_unwell(object, condition)).count(),
            None => document.objects.len(),
        };
        html.raw("<li><a href=\"").text(&asks.query()).raw("\"");
        if ask.condition.as_deref() == condition {
            html.raw(" aria-current=\"true\"");
        }
        html.raw("><b class=\"").raw(if number == 0 { "none" } else { look }).raw("\">");
        html.text(&grouped(number as u64)).raw("</b>").raw(words).raw("</a></li>");
    }
    html.raw("</ul>");
}

fn tools(html: &mut Markup, ask: &Ask, may_resync: bool) {
    html.raw("<div class=\"tools\"><form class=\"find\" method=\"get\" role=\"search\">");
    if let Some(condition) = &ask.condition {
        html.raw("<input type=\"hidden\" name=\"condition\" value=\"").text(condition).raw("\">");
    }
    if ask.paused {
        html.raw("<input type=\"hidden\" name=\"paused\" value=\"1\">");
    }
    html.raw("<input type=\"search\" name=\"q\" aria-label=\"Kind, name, backend or file\" ");
    html.raw("placeholder=\"Kind, name, backend or file\" value=\"").text(&ask.text);
    html.raw("\"><button>Find</button></form>");
    if may_resync {
        html.raw("<form method=\"post\" action=\"resync\"><button>Look again now</button></form>");
    }
    let other = Ask { paused: !ask.paused, ..ask.clone() };
    html.raw("<a href=\"").text(&other.query()).raw("\">");
    html.raw(if ask.paused { "Refresh by itself" } else { "Stop refreshing" }).raw("</a></div>");
}

fn objects(html: &mut Markup, document: &Document, ask: &Ask) {
    let picked: Vec<(Trouble, &Object)> =
        worst_first(document).into_iter().filter(|(_, object)| ask.picks(object)).collect();
    let from = ask.from.min(picked.len());
    let to = picked.len().min(from.saturating_add(PAGE));
    if picked.is_empty() {
        html.raw("<p class=\"objects empty\">No such objects</p>");
        return;
    }
    html.raw("<ol class=\"objects\">");
    for (trouble, object) in &picked[from..to] {
        item(html, *trouble, object, document);
    }
    html.raw("</ol>");
    if to - from < picked.len() {
        pages(html, ask, from, to, picked.len());
    }
}

fn pages(html: &mut Markup, ask: &Ask, from: usize, to: usize, total: usize) {
    let link = |html: &mut Markup, from: usize, words: &'static str| {
        html.raw("<a href=\"").text(&Ask { from, ..ask.clone() }.query()).raw("\">").raw(words).raw("</a>");
    };
    html.raw("<nav class=\"pages\">");
    if from > 0 {
        link(html, from.saturating_sub(PAGE), "← Before");
    }
    html.raw("<span class=\"dim\">").text(&grouped(from as u64 + 1)).raw(" to ").text(&grouped(to as u64));
    html.raw(" of ").text(&grouped(total as u64)).raw("</span>");
    if to < total {
        link(html, to, "After →");
    }
    html.raw("</nav>");
}

fn item(html: &mut Markup, trouble: Trouble, object: &Object, document: &Document) {
    let look = match trouble {
        Trouble::Ok => "good",
        Trouble::Stalled | Trouble::Unknown | Trouble::NotEffective | Trouble::Failing => "bad",
        _ => "warn",
    };
    html.raw("<li class=\"is-").raw(look).raw("\"><div class=\"title\"><strong><span class=\"kind\">");
    html.text(&object.identity.kind).raw("</span> ").text(&object.name).raw("</strong><span class=\"");
    html.raw(look).raw("\">").raw(trouble.word()).raw("</span></div><div class=\"more\"><span>");
    html.text(&object.identity.backend).raw("</span><span>");
    place(html, &object.position);
    html.raw("</span>");
    if object.writes > 0 {
        html.raw("<span>").text(&many(object.writes, "write")).raw("</span>");
    }
    if trouble != Trouble::Ok {
        tries(html, object, document);
    }
    html.raw("</div>");
    let told: Vec<&State> = object.conditions.iter().filter(|state| is_trouble(state)).collect();
    if !told.is_empty() {
        html.raw("<dl>");
        told.into_iter().for_each(|state| condition(html, state, document));
        html.raw("</dl>");
    }
    for found in &object.findings {
        html.raw("<dl><dt>").text(&found.code).raw("</dt><dd>").text(&found.message);
        if let Some(hint) = &found.hint {
            html.raw("; ").text(hint);
        }
        html.raw("</dd></dl>");
    }
    html.raw("</li>");
}

fn tries(html: &mut Markup, object: &Object, document: &Document) {
    if object.attempts > 0 {
        html.raw("<span>").number(object.attempts).raw(" failed in a row</span>");
    }
    let wait = object.next_attempt.as_deref().and_then(time::read).zip(document.made_at());
    if let Some((next, now)) = wait {
        html.raw("<span>next try in ").text(&time::short(next.saturating_sub(now))).raw("</span>");
    }
    if let Some(synced) = &object.last_synced {
        html.raw("<span>last in sync ");
        ago(html, synced, document);
        html.raw(" ago</span>");
    }
}

fn condition(html: &mut Markup, state: &State, document: &Document) {
    html.raw("<dt>").text(&state.kind).raw(" = ").text(&state.status).raw("</dt><dd>");
    html.text(&state.reason);
    if !state.message.is_empty() {
        html.raw(": ").text(&state.message);
    }
    html.raw(" <span class=\"dim when\">for ");
    ago(html, &state.last_transition_time, document);
    html.raw("</span></dd>");
}

/// How long ago a date was, with the date for those who point at it.
fn ago(html: &mut Markup, date: &str, document: &Document) {
    let span = time::read(date).zip(document.made_at()).map(|(date, now)| now.saturating_sub(date));
    html.raw("<time datetime=\"").text(date).raw("\" title=\"").text(date).raw("\">");
    html.text(&span.map_or_else(|| date.to_owned(), time::short)).raw("</time>");
}

fn place(html: &mut Markup, position: &Position) {
    html.raw("<code>").text(&position.file).raw(":").number(position.line).raw(":").number(position.column);
    html.raw("</code>");
}

#[cfg(test)]
#[path = "page_tests.rs"]
mod tests;
