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
fn what_a_statement_has_is_not_refunded_unless_a_person_says_that_the_vend_was_taken_back() {
    let (env, _wallet) = TestEnv::with_a_till();
    let env = env.with_people();
    let opens = |subscriber| {
        let age = "3 hours";
        env.inserts_purchase(&OpenPurchase { state: "REVIEW", product: "ELECTRICITY", subscriber, age })
    };
    let (listed, unlisted) = (opens("04257670461"), opens("04257670462"));
    let file = env.statement_of("not-refunded", &[env.listed(&listed)]);
    env.reconciles(&file, &ago(&env, "4 hours"), &ago(&env, "1 hour"));
    let not_vended = |purchase| ["purchases", "resolve", purchase, "--as", "not-vended"];
    let said = env.is_refused(&not_vended(&listed));
    assert!(
        said.contains("of BPC has a vend of this purchase (reconciliation 1); decide it with --as vended"),
        "{said}"
    );
    let shown = |purchase: &str| env.types(&["purchases", "show", purchase], "").stdout;
    assert!(shown(&listed).contains("of BPC has a vend of it (reconciliation 1)."), "{}", shown(&listed));
    assert!(!shown(&unlisted).contains("has a vend of it"));
    env.does(&not_vended(&unlisted));
    let failed = || env.sql("SELECT count(*) FROM purchases WHERE state = 'FAILED'");
    assert_eq!(failed(), "1");
    let by_hand = format!(
        "SET ROLE vendgate_operator; UPDATE purchases SET state = 'FAILED', failure_reason = 'not_vended', ended_at = now()
         WHERE id = {listed}"
    );
    assert!(env.database.run_sql(&by_hand).is_err() && failed() == "1");
    let asked = env.does(&[&not_vended(&listed)[..], &["--despite-statement"]].concat());
    assert_eq!((&asked["act"], failed().as_str()), (&json!("RELEASE"), "1"), "one person is not enough");
    let waits = env.types(&["approvals", "show", &asked["request"].to_string()], "").stdout;
    assert!(
        waits.contains("listed in the statement") && !waits.contains("No second person is needed"),
        "{waits}"
    );
    let listed_now = env.shows(&["purchases", "list", "--review"]);
    assert_eq!(listed_now[0]["waiting_request"], asked["request"]);
    assert_eq!(
        env.does_as("lesego", &format!("approvals approve {}", asked["request"]))["status"],
        "APPROVED"
    );
    assert_eq!(failed(), "2");
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

#[test]
fn what_a_line_has_otherwise_than_its_open_purchase_is_told_and_kept() {
    let (env, _wallet) = TestEnv::with_a_till();
    let opens = |subscriber| {
        let age = "3 hours";
        env.inserts_purchase(&OpenPurchase { state: "REVIEW", product: "ELECTRICITY", subscriber, age })
    };
    let (same, other) = (opens("04257670461"), opens("04257670462"));
    let differing = env.listed(&other).replace("04257670462", "04257670499").replace("100.00", "90.00");
    let file = env.statement_of("open-otherwise", &[env.listed(&same), differing]);
    let found = env.reconciles(&file, &ago(&env, "4 hours"), &ago(&env, "1 hour"));
    assert_eq!((&found["open"], &found["different"]), (&json!(1), &json!(1)));
    let open = &found["open_purchases"];
    assert_eq!((&open[0]["differs"], &open[0]["line"]), (&json!([]), &json!(2)));
    let told = &open[1];
    assert_eq!((&told["in_statement"], &told["line"]), (&json!(true), &json!(3)));
    assert_eq!(told["differs"], json!(["subscriber", "amount"]));
    assert_eq!(
        (&told["theirs"]["meter"], &told["theirs"]["amount"]),
        (&json!("04257670499"), &json!("BWP 90.00"))
    );
    let kept = env.shows(&["reconciliations", "show", "1"]);
    let one = &kept["discrepancies"][0];
    assert_eq!(
        (&one["differs"], &one["ours"]["state"]),
        (&json!(["subscriber", "amount"]), &json!("REVIEW"))
    );
    assert_eq!(env.shows(&["discrepancies", "list"]).as_array().unwrap().len(), 1, "it waits for a person");
    let (from, until) = (ago(&env, "4 hours"), ago(&env, "1 hour"));
    let words = ["reconcile", "BPC", &file, "--from", &from, "--until", &until, "--dry-run", "--reason", "x"];
    let text = env.types(&words, "").stdout;
    assert!(text.contains("1 of them differ from their lines") && text.contains("DIFFERS"), "{text}");
}

#[test]
fn one_wrong_date_is_named_and_many_are_refused_with_the_period_of_the_lines() {
    let (env, _wallet) = TestEnv::with_a_till();
    let listed: Vec<String> =
        (0..10).map(|n| env.listed(&env.sold("AIRTIME", &format!("2677140000{n}"), "3 hours"))).collect();
    let (from, until) = (ago(&env, "4 hours"), ago(&env, "1 hour"));
    let dated = |line: &String| {
        let cells: Vec<&str> = line.split(',').collect();
        [&cells[..2], &["2026-01-05T10:00:00Z"], &cells[3..]].concat().join(",")
    };
    let one = [&listed[..9], &[dated(&listed[9])]].concat();
    let found = env.reconciles(&env.statement_of("one", &one), &from, &until);
    assert_eq!((&found["matched"], &found["different"]), (&json!(9), &json!(1)));
    assert_eq!(found["discrepancies"][0]["differs"], json!(["time"]));
    let outside = &found["outside_period"];
    assert_eq!((&outside[0]["line"], &outside[0]["at"]), (&json!(11), &json!("2026-01-05T10:00:00Z")));

    let two = [&listed[..8], &[dated(&listed[8]), dated(&listed[9])]].concat();
    let file = env.statement_of("two", &two);
    let refused = env.is_refused(&["reconcile", "BPC", &file, "--from", &from, "--until", &until]);
    assert!(
        refused.starts_with("2 of the 10 lines are outside the period and its --tolerance, such as line 10,")
    );
    assert!(refused.contains("The statement covers 2026-01-05 12:00:00 to 2"), "{refused}");
    assert_eq!(env.sql("SELECT count(*) FROM reconciliations"), "1");
}
