//! Names that differ and look or sort alike: to a server that folds names they may be one, and to a reader they
//! are.

use unicode_normalization::UnicodeNormalization;

use super::escape;

/// How two different names are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alike {
    /// `Orders` and `orders`.
    Case,
    /// `é` as one character and as two (NFC and NFD), or in a form for compatibility, such as wide letters.
    Composition,
    /// Letters of other alphabets that look the same, or characters that are not seen.
    Look,
}

impl Alike {
    /// How two names differ, as the end of a sentence.
    pub fn words(self) -> &'static str {
        match self {
            Alike::Case => "differ in letter case alone",
            Alike::Composition => "differ in the composition of their characters alone (as NFC and NFD do)",
            Alike::Look => {
                "look the same, and have letters of different alphabets or characters that are not seen"
            }
        }
    }
}

/// A name as a server may fold it: composed, and in lower case.
pub fn folded(name: &str) -> String {
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    name.nfkc().flat_map(char::to_lowercase).nfkc().collect()
}

/// A name as a reader sees it: folded, with Latin letters for those that look like them, and without what is
/// not seen.
pub fn skeleton(name: &str) -> String {
    let folded = folded(name);
    if folded.is_ascii() {
        return folded;
    }
    folded.chars().filter(|c| !escape::is_unsafe(*c)).map(latin).collect()
}

/// How two names are alike that are not equal; `None` where they are not.
pub fn alike(one: &str, other: &str) -> Option<Alike> {
    if one.to_lowercase() == other.to_lowercase() {
        Some(Alike::Case)
    } else if folded(one) == folded(other) {
        Some(Alike::Composition)
    } else {
        (skeleton(one) == skeleton(other)).then_some(Alike::Look)
    }
}

/// The Latin letter that a letter of the Cyrillic or Greek alphabet looks like, as a small letter or as a capital
/// (Unicode's `confusables`, of the two alphabets that keyboards have beside the Latin one).
fn latin(c: char) -> char {
    match c {
        'а' | 'α' => 'a',
        'в' | 'β' => 'b',
        'с' | 'ϲ' => 'c',
        'ԁ' => 'd',
        'е' | 'ε' => 'e',
        'һ' | 'н' | 'η' => 'h',
        'і' | 'ι' | 'ı' => 'i',
        'ј' | 'ϳ' => 'j',
        'к' | 'κ' => 'k',
        'ӏ' => 'l',
        'м' | 'μ' => 'm',
        'о' | 'ο' => 'o',
        'р' | 'ρ' => 'p',
        'ԛ' => 'q',
        'ѕ' => 's',
        'т' | 'τ' => 't',
        'υ' => 'u',
        'ν' | 'ѵ' => 'v',
        'ԝ' => 'w',
        'х' | 'χ' => 'x',
        'у' => 'y',
        'ζ' => 'z',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_alike_in_three_ways() {
        for (one, other, want) in [
            ("Orders", "orders", Some(Alike::Case)),
            ("CAFÉ", "café", Some(Alike::Case)),
            ("caf\u{e9}", "cafe\u{301}", Some(Alike::Composition)),
            ("CAF\u{c9}", "cafe\u{301}", Some(Alike::Composition)),
            ("ｏｒｄｅｒｓ", "orders", Some(Alike::Composition)),
            ("оrders", "orders", Some(Alike::Look)),
            ("РАYMENTS", "payments", Some(Alike::Look)),
            ("or\u{200b}ders", "orders", Some(Alike::Look)),
            ("orders", "order", None),
            ("l1", "11", None),
            ("заказы", "orders", None),
        ] {
            assert_eq!(alike(one, other), want, "{one} {other}");
            assert_eq!(alike(other, one), want, "{other} {one}");
        }
    }
}
