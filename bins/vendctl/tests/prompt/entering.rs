//! What entering a statement does with each of its lines, and how a vend that was entered by mistake is taken back.

use serde_json::{Value, json};

use crate::{
    office::TestEnv,
    open_purchase::OpenPurchase,
    reconciliations::ago,
    shapes::{fields, sorted},
};

fn line(number: usize) -> String {
    format!("20261124032043-00090{number},S-{number},2026-11-24T03:20:43Z,AIRTIME,26771234567,100.00,BWP,")
}

impl TestEnv {
    /// Inserts a purchase of BWP 100.00 that a person decided was not vended. Returns its number.
    fn refunded(&self, subscriber: &str) -> String {
        let failed = self.sold("AIRTIME", subscriber, "3 hours");
        self.sql(&format!(
            "SET session_replication_role = replica;
             UPDATE purchases SET state = 'FAILED', failure = 'OPERATOR', provider_transaction = NULL WHERE id = {failed}"
        ));
        failed
    }

    fn enters_for(&self, file: &str, provider: &str) -> Value {
        self.does(&["recover", "enter", file, "--provider", provider])
    }

    /// What BPC is owed by today's report.
    fn payable(&self) -> String {
        let lines = self.shows(&["report", "payable", "--date", "today"]);
        lines.as_array().unwrap().iter().map(|line| line["closing_hundredths"].to_string()).collect()
    }
}

/// Line and cause of each line that was not entered.
fn causes(entered: &Value) -> Vec<(i64, String)> {
    let one = |one: &Value| (one["line"].as_i64().unwrap(), one["why"].as_str().unwrap().to_owned());
    entered["not_entered"].as_array().unwrap().iter().map(one).collect()
}

#[test]
fn a_statement_whose_orders_another_provider_was_sent_is_refused_whole() {
    let (env, _wallet) = TestEnv::with_a_till();
    env.does(&["provider", "declare", "WUC", "--name", "Water Utilities Corporation"]);
    let sold = env.sold("AIRTIME", "26771400001", "3 hours");
    let reference = env.sql(&format!("SELECT provider_reference FROM purchases WHERE id = {sold}"));
    let file = env.statement_of("another", &[line(1), env.listed(&sold)]);
    let refused = env.is_refused(&["recover", "enter", &file, "--provider", "WUC"]);
    let said = format!(
        "line 3 of the statement: {reference} is the order of purchase {sold} at BPC, so this is no statement of WUC; nothing was done. Name the provider that wrote it"
    );
    assert_eq!(refused, said);
    assert_eq!(env.sql("SELECT count(*) FROM unmatched_vends"), "0");
    let by_hand = format!(
        "INSERT INTO unmatched_vends (id, provider_code, provider_reference, provider_transaction, vended_at, product,
             subscriber_identifier, currency, net)
         VALUES (1, 'WUC', '{reference}', 'R', now(), 'WATER', '1', 'BWP', 100)"
    );
    let said = env.database.run_sql(&by_hand).unwrap_err().to_string();
    assert!(said.contains("is known"), "{said}");
    assert_eq!(env.enters_for(&file, "BPC")["entered"], json!([1]));
}

#[test]
fn a_rehearsal_says_what_would_be_owed_and_enters_nothing() {
    let (env, _wallet) = TestEnv::with_a_till();
    let refunded = env.refunded("26771400001");
    let file = env.statement_of("rehearsed", &[line(1), line(2), env.listed(&refunded)]);
    let command = ["recover", "enter", &file, "--provider", "BPC", "--dry-run"];
    let would = env.does(&command);
    let names = "listed unmatched late amounts entered incidents entered_before not_entered";
    assert_eq!(fields(&would), sorted(names));
    assert_eq!(
        (&would["unmatched"], &would["late"], &would["amounts"], &would["entered"], &would["incidents"]),
        (&json!(2), &json!(1), &json!(["BWP 300.00"]), &json!([]), &json!([]))
    );
    let text = env.types(&[&command[..], &["--reason", "x"]].concat(), "").stdout;
    let said = "Nothing was entered. BWP 300.00 would be owed to BPC: 2 unmatched vends, and 1 vends of purchases that have failed";
    assert!(text.contains(said), "{text}");
    assert_eq!(
        env.sql("SELECT (SELECT count(*) FROM unmatched_vends) + (SELECT count(*) FROM incidents)"),
        "0"
    );
}

#[test]
fn a_vend_that_was_decided_as_not_vended_becomes_an_incident_once() {
    let (env, _wallet) = TestEnv::with_a_till();
    let refunded = env.refunded("26771400001");
    let paid = env.sold("AIRTIME", "26771400002", "3 hours");
    let open = env.inserts_purchase(&OpenPurchase {
        state: "REVIEW",
        product: "AIRTIME",
        subscriber: "26771400003",
        age: "3 hours",
    });
    let dearer = env.refunded("26771400004");
    let lines = [
        env.listed(&refunded),
        env.listed(&paid),
        env.listed(&open),
        env.listed(&dearer).replace("100.00", "90.00"),
    ];
    let file = env.statement_of("late", &lines);
    let entered = env.enters_for(&file, "BPC");
    assert_eq!((&entered["incidents"], &entered["entered"]), (&json!([1]), &json!([])));
    let expected = [
        (3, "known and paid"),
        (4, "known and open (REVIEW): it is not decided whether a wallet pays"),
        (
            5,
            "known and refunded, but what was ordered is another amount, product or subscriber: ask the provider",
        ),
    ];
    assert_eq!(causes(&entered), expected.map(|(line, why)| (line, why.to_owned())));
    let incident = &env.shows(&["incidents", "list"])[0];
    assert_eq!(
        (&incident["kind"], &incident["purchase"], &incident["suspense"]),
        (&json!("LATE_VEND"), &json!(refunded.parse::<i64>().unwrap()), &json!("BWP 100.00"))
    );
    assert_eq!(env.owed(), "PROVIDER_PAYABLE|10000\nSUSPENSE|-10000");

    let again = env.enters_for(&file, "BPC");
    assert_eq!(again["incidents"], json!([]));
    assert_eq!(causes(&again)[0], (2, "known and refunded, and owed as incident 1".to_owned()));
    let reference = env.sql(&format!("SELECT provider_reference FROM purchases WHERE id = {refunded}"));
    let by_hand = format!(
        "SELECT enter_late_vend('BPC', '{reference}', 'R-OTHER', 'BWP', 10000, NULL, NULL, 'naledi', 'x')"
    );
    assert!(env.database.run_sql(&by_hand).unwrap_err().to_string().contains("is no late vend"));
    assert_eq!(env.owed(), "PROVIDER_PAYABLE|10000\nSUSPENSE|-10000");
    let found = env.reconciles(&file, &ago(&env, "4 hours"), &ago(&env, "1 hour"));
    assert_eq!((&found["matched"], &found["different"]), (&json!(2), &json!(1)), "the incident is known");
    let about = env.shows(&["audit", "list", "-o", "KGALE"]);
    assert!(about.as_array().unwrap().iter().any(|line| line["action"] == "incident.entered"), "{about}");
}

#[test]
fn an_unmatched_vend_that_never_was_is_withdrawn_once_and_owed_no_more() {
    let (env, wallet) = TestEnv::with_a_till();
    let before = env.payable();
    let file = env.statement_of("withdrawn", &[line(1), line(2), line(3)]);
    env.enters_for(&file, "BPC");
    let owing = env.payable();
    env.does(&["recover", "waive", "2"]);
    env.does(&["recover", "charge", "3", "--account", &wallet]);

    let text = env.types(&["recover", "withdraw", "1", "2", "--dry-run", "--reason", "x"], "").stdout;
    assert!(text.contains("Nothing was decided. BWP 200.00 is not owed to the provider any more."), "{text}");
    let charged = env.is_refused(&["recover", "withdraw", "1", "3"]);
    assert!(charged.starts_with("test_operator decided unmatched vend 3 before"), "{charged}");
    assert_eq!(env.owed(), "PROVIDER_PAYABLE|30000\nSUSPENSE|-20000");

    assert_eq!(env.does(&["recover", "withdraw", "1", "2"]), json!([]));
    assert_eq!(env.owed(), "PROVIDER_PAYABLE|10000\nSUSPENSE|0");
    let again = env.is_refused(&["recover", "withdraw", "2"]);
    assert!(again.starts_with("test_operator decided unmatched vend 2 before"), "{again}");
    for (vend, why) in [(1, "reversals_pkey"), (3, "a wallet was charged for unmatched vend 3")] {
        let by_hand = format!("SELECT withdraw_unmatched_vends(ARRAY[{vend}], 'naledi', 'x')");
        let said = env.database.run_sql(&by_hand).unwrap_err().to_string();
        assert!(said.contains(why), "{said}");
    }
    let listed = env.shows(&["recover", "list", "--all"]);
    let decisions: Vec<_> = listed.as_array().unwrap().iter().map(|vend| &vend["decision"]).collect();
    assert_eq!(decisions, ["withdrawn", "withdrawn", "charged"]);
    let entered = env.enters_for(&file, "BPC");
    assert_eq!((&entered["entered"], &entered["entered_before"]), (&json!([]), &json!(3)));
    assert_eq!(env.sql("SELECT count(*) FROM audit_log WHERE action = 'unmatched_vend.withdrawn'"), "2");
    // The charge is the only vend that is left, and it is of BPC.
    assert_eq!((before.as_str(), owing.as_str(), env.payable().as_str()), ("", "30000", "10000"));
}

#[test]
fn lines_that_say_the_same_are_taken_as_one() {
    let (env, _wallet) = TestEnv::with_a_till();
    let paid = env.sold("AIRTIME", "26771400002", "3 hours");
    let file = env.statement_of("same", &[line(1), env.listed(&paid), line(1), env.listed(&paid)]);
    let entered = env.enters_for(&file, "BPC");
    assert_eq!((&entered["entered"], &entered["amounts"]), (&json!([1]), &json!(["BWP 100.00"])));
    let expected = [(3, "known and paid"), (4, "the same as line 2"), (5, "known and paid")];
    assert_eq!(causes(&entered), expected.map(|(line, why)| (line, why.to_owned())));
    let other = env.statement_of("other", &[line(2), line(2).replace("100.00", "90.00")]);
    let refused = env.is_refused(&["recover", "enter", &other, "--provider", "BPC"]);
    assert!(refused.starts_with("lines 2 and 3 of the statement have the same reference, and not the same"));
}

#[test]
fn who_charges_a_wallet_reads_whose_it_is() {
    let (env, wallet) = TestEnv::with_a_till();
    env.enters_for(&env.statement_of("charged", &[line(1)]), "BPC");
    let charge = ["recover", "charge", "1", "--account", &wallet, "--dry-run", "--reason", "x"];
    let text = env.types(&charge, "").stdout;
    let said = format!("BWP 100.00 is taken out of wallet {wallet} of KGALE (Wallet).");
    assert!(text.contains(&said), "{text}");
}
