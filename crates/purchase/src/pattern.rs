//! Patterns of subscriber identifiers, in a language that JavaScript and this library read in the same way.

use std::fmt;

use regex::Regex;
use vend::SubscriberIdentifier;

mod grammar;

pub use grammar::Unshared;

/// A pattern for which a browser's `new RegExp(pattern).test(identifier)` and this library give the same answer, with
/// or without the flags `u` and `v`. As in JavaScript, the pattern may match anywhere in the identifier. Anchors make
/// it match the whole.
///
/// Both engines read the following in the same way, and everything else is refused:
///
/// * letters, digits, `-`, `_` and `/` stand for themselves; `\.`, `\+` and `\/` for what follows the backslash;
/// * `.` is any character, `\d` a digit, `\w` a letter, a digit or `_`, of ASCII as identifiers are;
/// * `[...]` is one of its members and `[^...]` none of them: letters, digits, `_`, ranges of letters or digits such
///   as `a-f`, `\d`, `\w`, `\-`, `\.`, `\+` and `\/`;
/// * `^` and `$` are the ends of the identifier; `(...)` and `(?:...)` are groups; `|` separates alternatives, none
///   empty;
/// * `?`, `*`, `+`, `{n}`, `{n,}` and `{n,m}` repeat the term before them; a term takes one of them, and a number is
///   at most 40.
///
/// The content of a group that may be repeated more than once must not vary in length and must not have alternatives.
/// So no identifier, however long, causes excessive backtracking in a browser.
#[derive(Clone, Debug)]
pub struct Pattern(Regex);

/// Why a pattern is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{pattern:?} is not a pattern that JavaScript and this library read in the same way")]
pub struct PatternError {
    pattern: String,
    #[source]
    why: Unshared,
}

impl Pattern {
    /// The maximum length of a pattern, in characters.
    pub const LENGTH_MAX: usize = 200;

    /// The pattern of this text.
    ///
    /// # Errors
    /// When the text has anything that is not in the language above.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let refused = |why| PatternError { pattern: text.to_owned(), why };
        grammar::check(text).map_err(refused)?;
        // Every engine can read this language. Only a pattern that is too big is still refused here.
        Regex::new(text).map(Self).map_err(|_too_big| refused(Unshared::TooLong))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Whether it matches anywhere in an identifier.
    pub fn is_found_in(&self, identifier: &SubscriberIdentifier) -> bool {
        self.0.is_match(identifier.as_str())
    }
}

impl PatternError {
    /// What is wrong with it, and where.
    pub const fn why(&self) -> Unshared {
        self.why
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> Unshared {
        Pattern::parse(text).expect_err(text).why()
    }

    #[test]
    fn the_patterns_of_meters_and_phones_are_shared() {
        for (pattern, yes, no) in [
            ("^[0-9]{11,13}$", "04257670465", "0425767046"),
            (r"^\d{11}(?:\d{2})?$", "0425767046512", "042576704651"),
            (r"^(\+|00)?267[7][1-8]\d{6}$", "+26771234567", "+26779234567"),
            ("^(WM|XM)-[A-F0-9]+/[0-9]*$", "WM-12AF/", "ZM-12AF/1"),
            (r"[^\d\w]", "12.5", "125"),
            (r"^[\w\-\.\+\/]{2,}$", "a-b.c+d/e_f", "a"),
            ("^(?:[0-9]{4}-){3}[0-9]{4}$", "1234-5678-9012-3456", "1234-5678-9012"),
            ("^.{3}$", "0.5", "0.50"),
        ] {
            let pattern = Pattern::parse(pattern).unwrap();
            let [yes, no] = [yes, no].map(|text| SubscriberIdentifier::parse(text).unwrap());
            assert!(pattern.is_found_in(&yes), "{pattern} {yes}");
            assert!(!pattern.is_found_in(&no), "{pattern} {no}");
        }
    }

    #[test]
    fn what_only_one_of_the_engines_has_is_refused() {
        for only_rust in [
            r"(?i)a",
            r"(?x) a",
            r"\Aa",
            r"a\z",
            r"(?P<n>a)",
            r"[[:alpha:]]",
            r"[a-z&&b]",
            r"[a[b]]",
            r"\x{41}",
            r"\pL",
            r"\p{L}",
            r"a{,3}",
            r"\U00000041",
            r"a{2}{3}",
            r"a**",
            r"(?U)a",
            r"[]a]",
            r"\<a",
        ] {
            Pattern::parse(only_rust).expect_err(only_rust);
        }
        for only_javascript in [
            r"(?=a)", r"(?!a)", r"(?<=a)b", r"(a)\1", r"\k<n>", r"\cA", r"[^]", r"[]", r"a]", r"a{",
            r"\u0041", r"}",
        ] {
            Pattern::parse(only_javascript).expect_err(only_javascript);
        }
    }

    #[test]
    fn what_the_engines_read_differently_is_refused() {
        for differently in [
            r"\s", r"\S", r"\b", r"\B", r"\D", r"\W", r"\a", r"\e", r"\0", r"\_", r"\-", r"[\b]", "[a-]",
            "[-a]", "[+--]", "[A-z]", "[9-0]", "[a-\\d]", "[.]", "[/]", "[a&]", "é", "a b", "a\n", "^*",
            "$+", "a|", "|a", "()", "", "a+?", "a??", "a{3,2}", "a{41}", "a{01}", "a{1", "(a", "a)", "[a",
            "\\", "(?:", "{3}", "+a", "(^|+)",
        ] {
            Pattern::parse(differently).expect_err(differently);
        }
    }

    #[test]
    fn what_keeps_a_browser_busy_is_refused() {
        for slow in ["^(a+)+$", "^(a*)*$", "^(?:a|a)+$", "^(a{1,2}){2,}$", "^((a?))*$", "^((a|b)c){2}$"] {
            assert!(matches!(refused(slow), Unshared::Ambiguous(_)), "{slow}");
        }
        for quick in ["^(a+)?$", "^(ab)+$", "^(a{2}b){2,}$", "^(a+|b)$", "^((a|b))?$"] {
            Pattern::parse(quick).unwrap();
        }
        let long = "a".repeat(Pattern::LENGTH_MAX + 1);
        assert_eq!(refused(&long), Unshared::TooLong);
        let nested = format!("{}a{}", "(".repeat(99), "){40}".repeat(20) + &")".repeat(79));
        Pattern::parse(&nested).unwrap_err();
    }

    #[test]
    fn the_place_of_a_fault_is_told() {
        assert_eq!(
            refused(r"^[0-9]+\s$").to_string(),
            "at character 9: this escape means different things in different languages"
        );
        assert_eq!(
            refused("^(a+)+$").to_string(),
            "at character 6: what is repeated can match in several ways"
        );
    }
}
