//! The `Link` header (RFC 8288), as far as paging needs it.

/// The target of the first link whose relation is `next`.
pub fn next<'h>(headers: impl Iterator<Item = &'h str>) -> Option<&'h str> {
    headers.flat_map(links).find(|(_, params)| is_next(params)).map(|(target, _)| target)
}

/// Targets and their parameters. What is not a link ends the header: it is not guessed at.
fn links(header: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = header;
    std::iter::from_fn(move || {
        let start = rest.trim_start_matches(|c: char| c == ',' || c.is_whitespace());
        let (target, after) = start.strip_prefix('<')?.split_once('>')?;
        let end = before(after, ',');
        rest = &after[end..];
        Some((target, &after[..end]))
    })
}

/// Where `stop` stands outside of quotes, or the end.
fn before(text: &str, stop: char) -> usize {
    let mut quoted = false;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            c if c == stop && !quoted => return at,
            _ => {}
        }
    }
    text.len()
}

/// Whether `rel` names `next`, alone or among others. Of two `rel` the first counts (RFC 8288, 3.3).
fn is_next(mut params: &str) -> bool {
    while !params.is_empty() {
        let (param, rest) = params.split_at(before(params, ';'));
        params = rest.get(1..).unwrap_or("");
        let Some((name, value)) = param.split_once('=') else { continue };
        if name.trim().eq_ignore_ascii_case("rel") {
            let mut relations = value.trim().trim_matches('"').split_ascii_whitespace();
            return relations.any(|one| one.eq_ignore_ascii_case("next"));
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_link_is_found() {
        for (header, want) in [
            (
                r#"<https://h/a?page=2>; rel="next", <https://h/a?page=9>; rel="last""#,
                Some("https://h/a?page=2"),
            ),
            (
                r#"<https://h/a?page=1>; rel="prev", <https://h/a?page=3>; rel=next"#,
                Some("https://h/a?page=3"),
            ),
            (r#"</a?page=2>;title="a, b; rel=x";rel="prefetch NEXT""#, Some("/a?page=2")),
            (r#"<a,b;c>; rel="next""#, Some("a,b;c")),
            (r#"<x>; rel="last""#, None),
            (r#"<x>; rel="nextish""#, None),
            (r#"<x>"#, None),
            ("garbage, <x>; rel=next", None),
            ("<x", None),
            ("", None),
        ] {
            assert_eq!(next([header].into_iter()), want, "{header}");
        }
        assert_eq!(next([r#"<a>; rel="self""#, r#"<b>; rel="next""#].into_iter()), Some("b"));
    }
}
