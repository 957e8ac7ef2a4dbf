//! A vendor's text in a form that may be shown to others.

const CHARACTERS_MAX: usize = 160;

/// The text as one line: no control characters, single spaces, at most 160 characters. `None` if nothing is left.
///
/// ```
/// assert_eq!(vend::one_line(" Meter\r\n  blocked\u{7} "), Some("Meter blocked".to_owned()));
/// assert_eq!(vend::one_line(" \n"), None);
/// ```
pub fn one_line(text: &str) -> Option<String> {
    let spaced: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let line: String = words.join(" ").chars().take(CHARACTERS_MAX).collect();
    let line = line.trim_end();
    (!line.is_empty()).then(|| line.to_owned())
}
