//! Preconditions of a request: `If-Match` and `If-None-Match` (RFC 9110 section 13).
//!
//! They are checked where the write is decided, so that nothing can come between the check and the write.

/// What a request says about the state that it expects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Condition {
    pub if_match: Option<Tags>,
    pub if_none_match: Option<Tags>,
}

/// The value of one of the two headers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tags {
    /// `*`: any state at all.
    Any,
    List(Vec<Tag>),
}

/// One entity tag, without its quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag {
    pub weak: bool,
    pub opaque: String,
}

impl Condition {
    /// Whether both hold for the current tag, given without quotes; `None` when there is nothing yet.
    pub fn holds(&self, current: Option<&str>) -> bool {
        self.match_holds(current) && !self.none_match_fails(current)
    }

    /// Whether `If-Match` holds. It compares strongly: a weak tag never matches.
    pub fn match_holds(&self, current: Option<&str>) -> bool {
        match (&self.if_match, current) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(Tags::Any), Some(_)) => true,
            (Some(Tags::List(tags)), Some(current)) => tags.iter().any(|t| !t.weak && t.opaque == current),
        }
    }

    /// Whether `If-None-Match` names the current state. It compares weakly.
    pub fn none_match_fails(&self, current: Option<&str>) -> bool {
        match (&self.if_none_match, current) {
            (None, _) | (Some(_), None) => false,
            (Some(Tags::Any), Some(_)) => true,
            (Some(Tags::List(tags)), Some(current)) => tags.iter().any(|t| t.opaque == current),
        }
    }
}

impl Tags {
    /// Reads a header's value; `None` when it is no list of entity tags.
    pub fn parse(text: &str) -> Option<Tags> {
        let mut rest = text.trim();
        if rest == "*" {
            return Some(Tags::Any);
        }
        let mut tags = Vec::new();
        loop {
            let (weak, quoted) = rest.strip_prefix("W/").map_or((false, rest), |rest| (true, rest));
            let (opaque, after) = quoted.strip_prefix('"')?.split_once('"')?;
            tags.push(Tag { weak, opaque: opaque.to_owned() });
            match after.trim_start() {
                "" => return Some(Tags::List(tags)),
                more => rest = more.strip_prefix(',')?.trim_start(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn if_match(text: &str) -> Condition {
        Condition { if_match: Some(Tags::parse(text).expect("tags")), if_none_match: None }
    }

    fn if_none_match(text: &str) -> Condition {
        Condition { if_match: None, if_none_match: Some(Tags::parse(text).expect("tags")) }
    }

    #[test]
    fn if_match_compares_strongly() {
        for (text, current, holds) in [
            (r#""1""#, Some("1"), true),
            (r#""0", "1""#, Some("1"), true),
            (r#""a,b""#, Some("a,b"), true),
            (r#""1""#, Some("2"), false),
            (r#"W/"1""#, Some("1"), false),
            (r#""1""#, None, false),
            ("*", Some("9"), true),
            ("*", None, false),
        ] {
            assert_eq!(if_match(text).holds(current), holds, "{text} {current:?}");
        }
    }

    #[test]
    fn if_none_match_compares_weakly() {
        for (text, current, holds) in [
            (r#""1""#, Some("1"), false),
            (r#"W/"1""#, Some("1"), false),
            (r#""1""#, Some("2"), true),
            ("*", Some("1"), false),
            ("*", None, true),
        ] {
            assert_eq!(if_none_match(text).holds(current), holds, "{text} {current:?}");
        }
        assert!(Condition::default().holds(None) && Condition::default().holds(Some("1")));
    }

    #[test]
    fn what_is_no_list_of_tags_is_refused() {
        for text in ["", "1", r#""1"#, r#""1" "2""#, r#""1","#, "w/\"1\"", "*,*"] {
            assert_eq!(Tags::parse(text), None, "{text}");
        }
    }
}
