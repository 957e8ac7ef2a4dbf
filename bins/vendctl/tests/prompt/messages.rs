//! A customer calls: the message with the token is sent again, or after all.

use serde_json::json;

use crate::{
    office::TestEnv,
    open_purchase::{OpenPurchase, TOKEN},
};

/// The number that the customer has corrected.
const CORRECTED: &str = "26771500002";

impl TestEnv {
    /// A sold purchase of airtime, whose messages were given up.
    pub fn sells_airtime(&self) -> String {
        let airtime =
            OpenPurchase { state: "REVIEW", product: "AIRTIME", subscriber: "26771234567", age: "1 hour" };
        let purchase = self.inserts_purchase(&airtime);
        let vended = ["--as", "vended", "--provider-transaction", "9911"];
        self.does(&[&["purchases", "resolve", &purchase], &vended[..]].concat());
        self.sql("UPDATE outbox SET given_up_at = now(), given_up_because = 'TOO_OFTEN', attempts = 9");
        purchase
    }

    /// How many lines of the audit log have this text anywhere.
    fn audited(&self, text: &str) -> String {
        self.sql(&format!("SELECT count(*) FROM audit_log l WHERE l::text LIKE '%{text}%'"))
    }
}

#[test]
fn a_message_is_sent_again_within_the_integrators_limit_and_audited_without_a_number() {
    let (env, _) = TestEnv::with_a_till();
    let env = env.with_people();
    let purchase = env.sells_airtime();
    let without_country = ["purchases", "resend", &purchase, "--to", "71500002", "--reason", "called"];
    let refused = env.types(&without_country, "");
    assert_eq!(refused.code, 2, "{}", refused.stdout);
    assert!(refused.stderr.contains("no phone number with its country code"), "{}", refused.stderr);
    let spaced = format!("+{} {}", &CORRECTED[..3], &CORRECTED[3..]);
    let sent = env.does(&["purchases", "resend", &purchase, "--to", &spaced]);
    assert_eq!(sent["to"], CORRECTED);
    assert_eq!((&sent["to_corrected_number"], &sent["remaining_today"]), (&json!(true), &json!(2)));
    env.sql(&format!(
        "SELECT repeat_message({purchase}, p.organisation_id, NULL, p.user_id, 3) FROM purchases p"
    ));
    let support = env.types_as("sethunya", &["purchases", "resend", &purchase], true);
    assert_eq!((support.code, support.stderr.as_str()), (0, ""));
    assert!(support.stdout.contains(r#""remaining_today": 0"#), "{}", support.stdout);
    let queued = env.sql(
        "SELECT phone_number, requested_by IS NULL, requested_by_login FROM repeated_messages ORDER BY number",
    );
    assert_eq!(
        queued.lines().collect::<Vec<_>>(),
        [format!("{CORRECTED}|t|test_operator").as_str(), "|f|", "|t|sethunya",]
    );
    let fourth = env.is_refused(&["purchases", "resend", &purchase, "--to", CORRECTED]);
    assert!(fourth.starts_with("the message was sent again 3 times within a day"), "{fourth}");

    let lines = env.shows(&["audit", "list", "--subject", &format!("purchase:{purchase}")]);
    let told: Vec<_> =
        lines.as_array().unwrap().iter().filter(|line| line["action"] == "message.repeated").collect();
    assert_eq!(told.len(), 2, "{lines}");
    assert_eq!(
        (&told[0]["login"], &told[0]["details"]["to_corrected_number"]),
        (&json!("sethunya"), &json!(false))
    );
    assert_eq!(
        (&told[1]["login"], &told[1]["details"]["to_corrected_number"]),
        (&json!("test_operator"), &json!(true))
    );
    assert_eq!(env.audited(CORRECTED), "0");
    let stays = env.sql("SELECT beneficiary_phone_number FROM purchases");
    assert_eq!(stays, "26771234567", "the purchase itself does not change");
}

#[test]
fn the_story_of_a_sale_says_what_became_of_a_message_that_was_not_accepted() {
    let (env, _) = TestEnv::with_a_till();
    let purchase = env.sells_airtime();
    let story = || env.types(&["purchases", "show", &purchase], "").stdout;
    assert!(
        story().contains("was given up (TOO_OFTEN): see `vendctl outbox list --given-up`."),
        "{}",
        story()
    );
    env.sql("UPDATE outbox SET given_up_at = NULL, given_up_because = NULL, attempts = 7");
    assert!(
        story().contains("is not accepted yet. It was tried 7 times, and is tried again at "),
        "{}",
        story()
    );
    env.sql("UPDATE outbox SET sent_at = now()");
    assert!(!story().contains("is not accepted yet"), "{}", story());
}

#[test]
fn a_phone_that_no_purchase_is_named_by_leads_to_the_search_by_phone() {
    let env = TestEnv::open();
    let found = |name: &str| env.types(&["purchases", "search", name], "").stdout;
    assert!(found("26771500002").contains("is searched with --phone, and --since a day"));
    assert!(!found("KGALE-4711").contains("--phone"));
}

#[test]
fn nothing_is_sent_again_without_a_sale_a_token_and_a_number() {
    let (env, _) = TestEnv::with_a_till();
    let purchase = env.inserts_purchase_in_review("ELECTRICITY", "04257670465");
    let resend = ["purchases", "resend", purchase.as_str()];
    assert!(env.is_refused(&resend).contains("is REVIEW, so there is no message"));
    let vended = [
        purchase.as_str(),
        "--as",
        "vended",
        "--provider-transaction",
        "1",
        "--units",
        "1 kWh",
        "--token-stdin",
    ];
    assert_eq!(env.confirms_vend(&vended, TOKEN).code, 0);
    let erase = |column: &str| {
        env.sql(&format!("SET session_replication_role = replica; UPDATE purchases SET {column}"));
    };
    erase("beneficiary_phone_number = 'erased'");
    assert!(env.is_refused(&resend).ends_with("give the customer's number with --to"));
    env.does(&[&resend[..], &["--to", CORRECTED]].concat());
    erase("sealed_token = NULL, token_key_id = NULL, sealed_values_erased_at = now()");
    assert!(env.is_refused(&[&resend[..], &["--to", CORRECTED]].concat()).contains("token of purchase"));
    assert_eq!(env.sql("SELECT count(*) FROM repeated_messages"), "1");
}

#[test]
fn messages_that_were_given_up_wait_again_as_if_they_were_new() {
    let (env, _) = TestEnv::with_a_till();
    let purchase = env.sells_airtime();
    assert_eq!(env.shows(&["outbox", "list"]), json!([]));
    let given_up = env.shows(&["outbox", "list", "--given-up"]);
    assert_eq!(given_up[0]["due_at"], json!(null), "it is not tried again: {given_up}");
    let requeued = env.does(&["outbox", "requeue", &purchase, "--yes"]);
    assert_eq!(requeued, json!({ "purchase": purchase.parse::<i64>().unwrap(), "requeued": 3 }));
    let waiting = env.shows(&["outbox", "list"]);
    assert_eq!((waiting.as_array().unwrap().len(), &waiting[0]["attempts"]), (3, &json!(0)));
    assert!(waiting[0]["due_at"].is_string(), "{waiting}");
    assert_eq!(env.shows(&["outbox", "list", "--given-up"]), json!([]));
    assert_eq!(waiting[0]["earlier_given_up_because"], "TOO_OFTEN");
    assert!(waiting[0]["first_written_at"].is_string(), "{waiting}");
    let told = env.types(&["purchases", "show", &purchase], "").stdout;
    for sentence in [
        "The sms to the beneficiary was given up: TOO_OFTEN.",
        "The sms to the beneficiary waits again to be sent.",
        "The sms to the beneficiary was given up before (TOO_OFTEN), and waits to be sent again.",
    ] {
        assert!(told.contains(sentence), "{sentence}: {told}");
    }
    assert_eq!(env.does(&["outbox", "requeue", &purchase])["requeued"], 0);
    assert_eq!(env.audited("messages.requeued"), "1");

    env.sql("UPDATE outbox SET given_up_at = now(), given_up_because = 'TOO_OLD'");
    let given_up = env.shows(&["outbox", "list", "--given-up"]);
    assert_eq!(
        (&given_up[0]["given_up_because"], &given_up[0]["earlier_given_up_because"]),
        (&json!("TOO_OLD"), &json!("TOO_OFTEN"))
    );
    env.sql("SET session_replication_role = replica; UPDATE purchases SET personal_data_erased_at = now()");
    assert_eq!(env.does(&["outbox", "requeue", &purchase])["requeued"], 0, "the person was erased");
}
