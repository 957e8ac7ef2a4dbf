//! Text from other parties: names, units, references, a provider's label for a token. Its words may be shown. It must
//! not control a reader's screen or create a link.

/// The first `length_max` characters of a text as one line of harmless words. Line breaks, control characters and
/// formatting characters become spaces. Text that phones would show as a link, an address or a command is split into
/// words.
pub(crate) fn plain(text: &str, length_max: usize) -> String {
    let harmless: String =
        text.chars().map(|letter| if is_harmless(letter) { letter } else { ' ' }).collect();
    let words: Vec<String> = harmless.split_whitespace().map(unlinked).collect();
    let words = words.join(" ");
    let cut: String = words.chars().take(length_max).collect();
    cut.trim_end().to_owned()
}

fn is_harmless(letter: char) -> bool {
    letter.is_alphanumeric() || " -,()'&+#/._".contains(letter)
}

/// A dot inside a word makes it a domain name, unless the word is a decimal number.
fn unlinked(word: &str) -> String {
    let (body, end) = match word.strip_suffix('.') {
        Some(body) => (body, "."),
        None => (word, ""),
    };
    let is_number =
        body.split_once('.').is_some_and(|(whole, fraction)| is_digits(whole) && is_digits(fraction));
    if is_number { word.to_owned() } else { format!("{}{end}", body.replace('.', " ").trim()) }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_names_and_units_stay_as_they_are() {
        for text in [
            "K. MOLEFE",
            "Tau (Pty) Ltd",
            "O'Neill & Söhne",
            "kWh",
            "m³",
            "45.20 kWh",
            "TILL-7/2026_11",
            "04257670465",
        ] {
            assert_eq!(plain(text, 40), text);
        }
    }

    #[test]
    fn a_link_falls_apart() {
        for (text, said) in [
            ("http://evil.example/x", "http //evil example/x"),
            ("bit.ly/abc", "bit ly/abc"),
            ("visit www.win.co.bw.", "visit www win co bw."),
            ("a@b.example", "a b example"),
            ("10.0.0.1/x", "10 0 0 1/x"),
            ("tel:*123#", "tel 123#"),
            ("javascript:alert(1)", "javascript alert(1)"),
        ] {
            assert_eq!(plain(text, 40), said);
        }
    }

    #[test]
    fn lines_and_invisible_letters_cannot_forge_another_message() {
        assert_eq!(plain("K. MOLEFE\r\nToken: 1234\u{202e}\u{200b}\u{0}", 40), "K. MOLEFE Token 1234");
        assert_eq!(plain(" \n\t ", 40), "");
    }

    #[test]
    fn a_long_text_is_cut() {
        assert_eq!(plain(&"é".repeat(50), 40).chars().count(), 40);
        assert_eq!(plain("abc def", 4), "abc");
    }
}
