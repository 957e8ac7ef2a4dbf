//! Purchases that are open when the statement of their period is reconciled, and the end of a pause.

use serde_json::json;

use crate::{office::TestEnv, open_purchase::OpenPurchase, reconciliations::ago};

#[test]
fn purchases_of_the_period_that_are_still_open_are_counted_and_listed_and_no_others() {
    let (env, _wallet) = TestEnv::with_a_till();
    let opens = |subscriber, age| {
        env.inserts_purchase(&OpenPurchase { state: "REVIEW", product: "ELECTRICITY", subscriber, age })
    };
    let listed = opens("04257670461", "3 hours");
    let unlisted = opens("04257670462", "2 hours");
    opens("04257670463", "9 hours");
    env.sold("ELECTRICITY", "04257670464", "3 hours");
    let file = env.statement_of("open", &[env.listed(&listed)]);
    let found = env.reconciles(&file, &ago(&env, "4 hours"), &ago(&env, "1 hour"));
    assert_eq!((&found["left_out_open"], &found["open"]), (&json!(2), &json!(1)));
    let told = |place: usize| {
        let open = &found["open_purchases"][place];
        (open["purchase"].to_string(), open["in_statement"].clone(), open["state"].clone())
    };
    assert_eq!(told(0), (listed, json!(true), json!("REVIEW")));
    assert_eq!(told(1), (unlisted, json!(false), json!("REVIEW")));
    let (from, until) = (ago(&env, "4 hours"), ago(&env, "1 hour"));
    let words = ["reconcile", "BPC", &file, "--from", &from, "--until", &until, "--dry-run", "--reason", "x"];
    let text = env.types(&words, "").stdout;
    let said = "still open: 2 of our purchases of this period, of which the statement has 1.";
    assert!(text.contains(said) && text.contains("IN STATEMENT"), "{text}");
}

#[test]
fn who_resumes_a_provider_reads_when_servers_sell_again() {
    let (env, _wallet) = TestEnv::with_a_till();
    env.does(&["provider", "pause", "BPC"]);
    let resumed = env.types(&["provider", "resume", "BPC", "--reason", "they are back"], "").stdout;
    assert!(resumed.contains("within 5 seconds, or the vending.catalogue_reuse_ms"), "{resumed}");
    let settings = include_str!("../../../../docs/operations/SETTINGS.md");
    assert!(settings.contains("| `catalogue_reuse_ms`<br>`VENDGATE__VENDING__CATALOGUE_REUSE_MS` | integer, milliseconds | `5000` (5 s) |"));
}
