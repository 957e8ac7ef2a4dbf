//! Which endpoint answers which code. A real request provokes every pair that the surface declares. No answer has
//! another code, and the table in `docs/` lists the same pairs.

mod entry;
mod providers;
mod requests;
mod seen;

use std::{fmt::Write, fs};

use error_codes::ErrorCode;
use http_v1::Endpoint;

use seen::Seen;

const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/ERRORS.md");

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_code_that_an_endpoint_declares_is_answered_by_it_and_no_other() {
    let seen = Seen::default();
    tokio::join!(
        entry::closed_to_some(&seen),
        entry::with_a_broken_database(&seen),
        requests::that_are_wrong(&seen),
        requests::that_the_wallet_cannot_pay(&seen),
        requests::about_purchases(&seen),
        providers::that_refuse_a_question(&seen),
        providers::that_refuse_an_order(&seen),
        providers::that_are_silent(&seen),
        providers::that_are_not_there(&seen),
    );
    let missing: Vec<String> = Endpoint::ALL
        .into_iter()
        .flat_map(|endpoint| endpoint.codes().into_iter().map(move |code| (endpoint, code)))
        .filter(|pair| !seen.has(*pair))
        .map(|(endpoint, code)| format!("{} {code}", endpoint.path()))
        .collect();
    assert!(missing.is_empty(), "declared, but provoked by no request:\n{}", missing.join("\n"));
}

#[test]
fn every_code_of_the_table_is_declared_by_some_endpoint() {
    for code in ErrorCode::ALL {
        assert!(Endpoint::ALL.into_iter().any(|endpoint| endpoint.codes().contains(&code)), "{code}");
    }
}

#[test]
fn the_table_in_the_docs_says_which_endpoint_answers_which_code() {
    let kept = fs::read_to_string(TABLE).unwrap_or_default();
    assert_eq!(
        kept,
        table(),
        "run `cargo test -p acceptance --test journeys -- --ignored write_the_table_of_errors`"
    );
}

#[test]
#[ignore = "writes docs/ERRORS.md"]
fn write_the_table_of_errors() {
    fs::write(TABLE, table()).unwrap();
}

/// Markdown: a row for each code, a column for each endpoint.
fn table() -> String {
    let mut text = String::from(
        "# Errors by endpoint\n\nWhich endpoint of `/public/v1` can answer which code. A test provokes every pair \
         marked here with a real request, fails at an answer that is not marked, and compares this file with what \
         the code declares. What each code means and what to do about it is served at `/docs/errors`. Retry tells of \
         failures that are final: with 422 where the status here is 502.\n\n",
    );
    for (number, endpoint) in (1..).zip(Endpoint::ALL) {
        writeln!(text, "{number}. `{} {}`", endpoint.method(), endpoint.path()).unwrap();
    }
    let numbers: Vec<String> = (1..=Endpoint::ALL.len()).map(|number| format!(" {number} |")).collect();
    writeln!(text, "\n| Code | Status | Retryable |{}", numbers.concat()).unwrap();
    writeln!(text, "|---|---|---|{}", "---|".repeat(numbers.len())).unwrap();
    for code in ErrorCode::ALL {
        let marks: Vec<&str> = Endpoint::ALL
            .into_iter()
            .map(|endpoint| if endpoint.codes().contains(&code) { " x |" } else { "  |" })
            .collect();
        let retryable = match code.retryable() {
            error_codes::Retryable::Always => "yes",
            error_codes::Retryable::Never => "no",
            error_codes::Retryable::WhenProviderHinted => "as told",
        };
        writeln!(text, "| `{code}` | {} | {retryable} |{}", code.status(), marks.concat()).unwrap();
    }
    text
}
