//! "Did you mean …?": the nearest known name to one that is not known.
//!
//! Used wherever a person writes a name from a fixed set: kinds, fields, tags, flags of annotations.

use std::fmt::Write;

/// The most names that a hint lists.
const LISTED: usize = 12;

/// The known name that `wrong` most likely stands for, if any is near enough: a third of its letters may
/// differ, and letter case costs nothing.
pub fn nearest<'n>(wrong: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let wrong = wrong.to_lowercase();
    let allowed = (wrong.chars().count() / 3).max(1);
    known
        .into_iter()
        .map(|name| (distance(&wrong, &name.to_lowercase(), allowed), name))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// A hint for an unknown name: the nearest one where there is one, and what is known; `what` names the set,
/// as in "the kinds are".
pub fn hint<'n>(wrong: &str, what: &str, known: impl IntoIterator<Item = &'n str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let mut text = String::new();
    if let Some(name) = nearest(wrong, known.iter().copied()) {
        write!(text, "did you mean `{name}`? ").expect("writing to a string cannot fail");
    }
    if known.is_empty() {
        text.push_str(what);
        text.push_str(" none");
        return text;
    }
    let listed: Vec<String> = known.iter().take(LISTED).map(|name| format!("`{name}`")).collect();
    write!(text, "{what} {}", listed.join(", ")).expect("writing to a string cannot fail");
    if known.len() > LISTED {
        write!(text, " and {} more", known.len() - LISTED).expect("writing to a string cannot fail");
    }
    text
}

/// Edits between two texts, a swap of neighbours being one (Damerau's restricted distance); `limit + 1` when
/// the lengths alone say that it is more than `limit`.
fn distance(a: &str, b: &str, limit: usize) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > limit {
        return limit + 1;
    }
    let mut before = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, cb) in b.iter().enumerate() {
            let mut best = (last[j] + usize::from(ca != cb)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *ca == b[j - 1] && a[i - 1] == *cb {
                let swapped: &Vec<usize> = &before;
                best = best.min(swapped[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_found() {
        let kinds = ["VHost", "User", "Queue", "Exchange", "Policy"];
        for (wrong, want) in [
            ("Queu", Some("Queue")),
            ("queue", Some("Queue")),
            ("Qeuue", Some("Queue")),
            ("Exchagne", Some("Exchange")),
            ("Uesr", Some("User")),
            ("Binding", None),
            ("", None),
        ] {
            assert_eq!(nearest(wrong, kinds), want, "{wrong}");
        }
    }

    #[test]
    fn hints_list_what_is_known() {
        assert_eq!(
            hint("spce", "a document has", ["kind", "spec"]),
            "did you mean `spec`? a document has `kind`, `spec`"
        );
        assert_eq!(hint("x", "the kinds are", []), "the kinds are none");
        let many: Vec<String> = (0..15).map(|i| format!("kind-number-{i}")).collect();
        assert!(hint("x", "the kinds are", many.iter().map(String::as_str)).ends_with("and 3 more"));
    }

    #[test]
    fn a_swap_is_one_edit() {
        assert_eq!(distance("ab", "ba", 5), 1);
        assert_eq!(distance("kitten", "sitting", 5), 3);
        assert_eq!(distance("a", "abcdef", 2), 3);
    }
}
