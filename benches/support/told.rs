//! How figures are told.

/// The number that the variable `name` sets, for quick tries.
pub fn number(name: &str, usual: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

pub fn middle<T: PartialOrd>(mut all: Vec<T>) -> T {
    all.sort_by(|a, b| a.partial_cmp(b).expect("measurements can be compared"));
    all.swap_remove(all.len() / 2)
}

/// `met` or `missed`, to stand behind a figure.
pub fn verdict(met: bool) -> &'static str {
    if met { "met" } else { "missed" }
}
