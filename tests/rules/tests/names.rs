//! Names that no type here has, because they mean nothing or two things.

use crate::source::{assert_none, rust_files};

/// Endings of names that only say "some code".
const EMPTY_WORDS: &[&str] = &["Manager", "Helper", "Helpers", "Utils", "Util", "Processor"];

const DECLARATIONS: &[&str] = &["struct", "enum", "trait", "type", "union"];

#[test]
fn every_type_has_a_name_that_says_what_it_is() {
    let mut broken = Vec::new();
    for file in rust_files() {
        for (number, line) in file.text.lines().enumerate() {
            let complaint = declared(line).and_then(|name| Some((name, complaint(name)?)));
            let reported =
                complaint.map(|(name, why)| format!("{}:{}: `{name}`: {why}", file.path, number + 1));
            broken.extend(reported);
        }
    }
    assert_none(&broken, "Give these another name:");
}

#[test]
fn a_bare_token_and_a_manager_are_reported_and_other_names_are_not() {
    for line in
        ["pub struct Token(String);", "enum Token {", "pub(crate) type Token = u64;", "struct HoldManager;"]
    {
        assert!(declared(line).and_then(complaint).is_some(), "{line}");
    }
    for line in
        ["pub struct MeterToken(String);", "let token = Token::new();", "// a struct Token {", "struct Hold;"]
    {
        assert!(declared(line).and_then(complaint).is_none(), "{line}");
    }
}

/// The name of the type that `line` begins to declare.
fn declared(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace().skip_while(|word| word.starts_with("pub"));
    words.next().filter(|word| DECLARATIONS.contains(word))?;
    words.next()?.split(|character: char| !character.is_alphanumeric() && character != '_').next()
}

fn complaint(name: &str) -> Option<&'static str> {
    if name == "Token" {
        return Some("two things here are tokens: MeterToken, AccessToken");
    }
    let empty = EMPTY_WORDS.iter().any(|word| name.ends_with(word));
    empty.then_some("name it for what it is or does")
}
