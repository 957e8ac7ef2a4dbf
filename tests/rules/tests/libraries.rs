//! What the crates that other teams take promise: an old compiler, and documentation without words of this service.

use crate::arrows::TAKEN_BY_OTHERS;
use crate::source::{SourceFile, assert_none, files_named};

/// Words of this service, which mean nothing to a team that takes a crate.
const OF_THIS_SERVICE: &[&str] = &[
    "this service",
    "OAuth",
    "endpoint",
    "the API",
    "debited_account_id",
    "MsgID",
    "docs/",
    "on the wire and in",
];

/// What `scripts/libraries.d/breaks` compares the packages with, and which breaks are meant.
const TABLE: &str = "docs/libraries.table";

#[test]
fn every_package_for_others_is_compared_with_a_commit() {
    let mut stated: Vec<String> = lines_of_the_table("baseline").map(|[package, _commit]| package).collect();
    let mut taken: Vec<String> = TAKEN_BY_OTHERS.iter().map(|name| format!("vendgate-{name}")).collect();
    stated.sort();
    taken.sort();
    assert_eq!(stated, taken, "{TABLE} has a line for each package");
}

/// The script compares the table with the code. It takes minutes, and this takes none.
#[test]
fn the_changelog_names_every_break_of_a_package() {
    let changelog = text("CHANGELOG.md");
    let silent = lines_of_the_table("break").filter(|[_package, what]| {
        let between = |character: char| !character.is_alphanumeric() && character != '_';
        let named = what.trim_end_matches(between).rsplit(between).next();
        !named.is_some_and(|named| changelog.contains(named))
    });
    let silent: Vec<String> = silent.map(|[package, what]| format!("{package}: {what}")).collect();
    assert_none(&silent, "CHANGELOG.md must say what the users of these packages do:");
}

/// The package, and the rest, of each line of this sort.
fn lines_of_the_table(sort: &str) -> impl Iterator<Item = [String; 2]> {
    let lines: Vec<[String; 2]> = text(TABLE)
        .lines()
        .filter_map(|line| line.strip_prefix(sort)?.trim_start().split_once(' '))
        .map(|(package, rest)| [package.to_owned(), rest.to_owned()])
        .collect();
    lines.into_iter()
}

fn text(path: &str) -> String {
    files_named(path).into_iter().find(|file| file.path == path).expect("the file is there").text
}

/// Clippy's `incompatible_msrv` knows the standard library, not the language.
#[test]
fn no_crate_for_others_needs_a_language_newer_than_its_compiler() {
    let newer = of_the_crates(".rs").into_iter().flat_map(|file| {
        let conditions = conditions(&file.text);
        let newer = conditions.into_iter().filter_map(|condition| newer_than_1_85(&condition));
        newer.map(move |what| format!("{}: {what}", file.path)).collect::<Vec<_>>()
    });
    assert_none(&newer.collect::<Vec<_>>(), "The `rust-version` of these crates is 1.85:");
}

#[test]
fn a_let_chain_and_a_guard_with_let_are_newer() {
    let found = |text: &str| conditions(text).iter().find_map(|condition| newer_than_1_85(condition));
    assert_eq!(found("if let Some(a) = b && a > 1 { c }"), Some("a let chain (1.88)"));
    assert_eq!(found("if a > 1\n    && let Some(b) = c(&a) {"), Some("a let chain (1.88)"));
    assert_eq!(found("Some(a) if let Some(b) = c => d,"), Some("a guard with `let` (1.95)"));
    assert_eq!(found("if let Some(a) = b.filter(|b| c && d) { e && f }"), None);
    assert_eq!(found("// if let Some(a) = b && c {\nif a && b { let c = d; }"), None);
}

#[test]
fn no_crate_for_others_speaks_of_this_service() {
    let code = of_the_crates(".rs").into_iter().map(|file| (file.path, documentation(&file.text)));
    let pages = of_the_crates(".md").into_iter().map(|file| (file.path, file.text));
    let strange = code.chain(pages).flat_map(|(path, words)| {
        let strange = OF_THIS_SERVICE.iter().filter(move |word| words.contains(**word));
        strange.map(move |word| format!("{path}: {word:?}")).collect::<Vec<_>>()
    });
    assert_none(&strange.collect::<Vec<_>>(), "The public documentation of these crates is for strangers:");
}

/// The files of the crates with this ending, without their tests.
fn of_the_crates(ending: &str) -> Vec<SourceFile> {
    let taken = |path: &str| {
        let in_crate = path.strip_prefix("crates/").and_then(|rest| rest.split_once('/'));
        in_crate.is_some_and(|(name, file)| TAKEN_BY_OTHERS.contains(&name) && !file.starts_with("tests/"))
    };
    files_named(ending).into_iter().filter(|file| taken(&file.path)).collect()
}

/// The comments that rustdoc prints about items.
fn documentation(code: &str) -> String {
    let lines = code.lines().map(str::trim_start);
    lines.filter(|line| line.starts_with("///")).collect::<Vec<_>>().join("\n")
}

/// What stands between each `if` or `while` and its block or arrow, on one line.
fn conditions(text: &str) -> Vec<String> {
    let code: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.starts_with("//")).collect();
    let words: Vec<&str> = code.iter().flat_map(|line| line.split_whitespace()).collect();
    let begins = words.iter().enumerate().filter(|(_, word)| matches!(**word, "if" | "while"));
    let condition = |(begin, _)| {
        let rest = words.iter().skip(begin + 1);
        rest.take_while(|word| !word.ends_with('{')).copied().collect::<Vec<_>>().join(" ")
    };
    begins.map(condition).collect()
}

/// The part of the language in this condition that is newer than the crates promise.
fn newer_than_1_85(condition: &str) -> Option<&'static str> {
    let guard = condition.split_once(" => ").map(|(guard, _)| guard);
    if guard.is_some_and(|guard| guard.starts_with("let ")) {
        return Some("a guard with `let` (1.95)");
    }
    let condition = guard.unwrap_or(condition);
    let mut depth = 0_u32;
    let outside: String = condition
        .chars()
        .filter(|character| {
            match character {
                '(' | '[' => depth += 1,
                ')' | ']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0
        })
        .collect();
    let chained = outside.contains("&& let ") || (outside.starts_with("let ") && outside.contains(" && "));
    chained.then_some("a let chain (1.88)")
}
