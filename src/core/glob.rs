//! Patterns with `*` (any characters, `/` among them) and `?` (one character), for flags.

/// A pattern for a whole text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob(Vec<char>);

impl Glob {
    pub fn new(pattern: &str) -> Glob {
        Glob(pattern.chars().collect())
    }

    /// Whether the pattern stands for the whole of `text`. Takes at most pattern × text steps, as only the last
    /// `*` is ever tried again.
    pub fn matches(&self, text: &str) -> bool {
        let text: Vec<char> = text.chars().collect();
        let (mut p, mut t) = (0, 0);
        let mut star = None;
        while t < text.len() {
            match self.0.get(p) {
                Some('*') => {
                    star = Some((p, t));
                    p += 1;
                }
                Some(c) if *c == '?' || *c == text[t] => {
                    p += 1;
                    t += 1;
                }
                _ => match star {
                    Some((at, from)) => {
                        p = at + 1;
                        t = from + 1;
                        star = Some((at, t));
                    }
                    None => return false,
                },
            }
        }
        self.0[p..].iter().all(|c| *c == '*')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks() {
        for (pattern, text, want) in [
            ("*", "", true),
            ("", "", true),
            ("", "a", false),
            ("Queue*", "Queue///orders", true),
            ("Queue/*/orders", "Queue///orders", true),
            ("*/orders", "Queue/a/my-orders", false),
            ("?ueue", "Queue", true),
            ("?", "é", true),
            ("a*b*c", "axxbxxbxc", true),
            ("a*b*c", "axxcxxb", false),
            ("queue", "Queue", false),
            ("**a", "bca", true),
        ] {
            assert_eq!(Glob::new(pattern).matches(text), want, "{pattern} {text}");
        }
        assert!(!Glob::new(&"a*".repeat(200)).matches(&"a".repeat(5_000)[..150]));
    }
}
