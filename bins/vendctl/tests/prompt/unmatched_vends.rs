//! Recovery: the vends that only a provider's statement has are found, entered once, and charged or waived once.

use serde_json::{Value, json};

use crate::{
    office::{Outcome, TestEnv, WHY},
    open_purchase::{SEALING_KEY, TOKEN},
    shapes::{fields, sorted},
};

/// A line of a statement, about BWP 100.00 of electricity or of airtime.
fn line(reference: &str, transaction: &str, product: &str) -> String {
    let (subscriber, token) = match product {
        "ELECTRICITY" => ("04257670465", TOKEN.replace(' ', "")),
        _ => ("26771234567", String::new()),
    };
    format!("{reference},{transaction},2026-11-24T03:20:43Z,{product},{subscriber},100.00,BWP,{token}")
}

impl TestEnv {
    fn enters(&self, statement: &str, key: &str) -> Outcome {
        let key = [("VENDGATE__SEALING__CURRENT__ID", "1"), ("VENDGATE__SEALING__CURRENT__KEY", key)];
        let command = ["--json", "recover", "enter", statement, "--provider", "BPC"];
        self.types_with(&key, &[&command[..], &WHY].concat(), "")
    }

    /// What is in suspense and what is owed to providers.
    pub fn owed(&self) -> String {
        self.sql(
            "SELECT house, (SELECT coalesce(sum(CASE WHEN credit_account_id = a.id THEN amount ELSE -amount END), 0)
                            FROM postings WHERE a.id IN (debit_account_id, credit_account_id))
             FROM accounts a WHERE house IN ('SUSPENSE', 'PROVIDER_PAYABLE') ORDER BY house",
        )
    }
}

#[test]
fn an_unmatched_vend_is_entered_once_and_owed_to_its_provider() {
    let (env, _wallet) = TestEnv::with_a_till();
    let listed = [
        line("20261124032043-000900", "R-2", "ELECTRICITY"),
        line("20261124032044-000901", "R-3", "AIRTIME"),
    ];
    let statement = env.statement_of("unmatched", &listed[..1]);
    let entered = env.enters(&statement, SEALING_KEY);
    assert_eq!(entered.code, 0, "{}", entered.stderr);
    assert!(!entered.stdout.contains("0808625949"), "{}", entered.stdout);
    let longer = env.statement_of("unmatched", &listed);
    let entered: Value = serde_json::from_str(&env.enters(&longer, SEALING_KEY).stdout).unwrap();
    assert_eq!(
        (&entered["listed"], &entered["entered"], &entered["entered_before"]),
        (&json!(2), &json!([2]), &json!(1))
    );
    assert_eq!(env.owed(), "PROVIDER_PAYABLE|20000\nSUSPENSE|-20000");
    assert_eq!(env.sql("SELECT token_key_id FROM unmatched_vends ORDER BY id"), "1");
    assert_eq!(
        env.sql("SELECT count(*) FROM unmatched_vends WHERE position('0808'::bytea IN sealed_token) > 0"),
        "0"
    );
    let again: Value = serde_json::from_str(&env.enters(&longer, SEALING_KEY).stdout).unwrap();
    assert_eq!((&again["entered"], &again["entered_before"]), (&json!([]), &json!(2)));
    assert_eq!(env.sql("SELECT count(*) FROM audit_log WHERE action = 'unmatched_vends.entered'"), "2");
}

#[test]
fn unmatched_vends_are_charged_or_waived_once_and_together() {
    let (env, wallet) = TestEnv::with_a_till();
    let listed: Vec<String> =
        (1..=3).map(|n| line(&format!("20261124032043-00090{n}"), &format!("R-{n}"), "AIRTIME")).collect();
    let entered = env.enters(&env.statement_of("unmatched", &listed), SEALING_KEY);
    assert_eq!(entered.code, 0, "{}", entered.stderr);

    let left = env.does(&["recover", "charge", "1", "2", "--account", &wallet]);
    assert_eq!((left.as_array().unwrap().len(), &left[0]["id"]), (1, &json!(3)));
    assert_eq!(env.wallet(), "99980000|0");
    assert_eq!(env.owed(), "PROVIDER_PAYABLE|30000\nSUSPENSE|-10000");

    let again = env.is_refused(&["recover", "charge", "3", "2", "--account", &wallet]);
    assert!(again.starts_with("test_operator decided unmatched vend 2 before"), "{again}");
    let absent = env.is_refused(&["recover", "waive", "3", "9"]);
    assert!(absent.starts_with("there is no unmatched vend 9"), "{absent}");
    assert_eq!(
        (env.wallet(), env.owed()),
        ("99980000|0".to_owned(), "PROVIDER_PAYABLE|30000\nSUSPENSE|-10000".to_owned())
    );

    assert_eq!(env.does(&["recover", "waive", "3"]), json!([]));
    let decided = env.shows(&["recover", "list", "--all"]);
    let decisions: Vec<_> = decided.as_array().unwrap().iter().map(|vend| &vend["decision"]).collect();
    assert_eq!(decisions, ["charged", "charged", "waived"]);
    assert_eq!(env.shows(&["recover", "list"]), json!([]));
}

#[test]
fn the_json_fields_of_recover_have_stable_names() {
    let (env, _wallet) = TestEnv::with_a_till();
    let statement = env.statement_of("unmatched", &[line("20261124032043-000900", "R-2", "AIRTIME")]);
    let entered: Value = serde_json::from_str(&env.enters(&statement, SEALING_KEY).stdout).unwrap();
    assert_eq!(
        fields(&entered),
        sorted("listed unmatched late amounts entered incidents entered_before not_entered")
    );
    let listed = "id provider reference transaction at product subscriber amount has_token decision account decided_at \
                  decided_by decided_because";
    assert_eq!(fields(&env.shows(&["recover", "list"])), sorted(listed));
}

#[test]
fn a_wallet_that_has_too_little_is_not_charged() {
    let (env, wallet) = TestEnv::with_a_till();
    env.does(&["wallet", "adjust", &wallet, "down", "999900.01", "--currency", "BWP", "--id", "EMPTY"]);
    let entered = env.enters(
        &env.statement_of("unmatched", &[line("20261124032043-000900", "R-2", "AIRTIME")]),
        SEALING_KEY,
    );
    assert_eq!(entered.code, 0, "{}", entered.stderr);
    let refused = env.is_refused(&["recover", "charge", "1", "--account", &wallet]);
    assert!(refused.starts_with(&format!("only BWP 99.99 can be taken out of wallet {wallet}")), "{refused}");
    assert_eq!(env.shows(&["recover", "list"])[0]["decision"], Value::Null);
}

#[test]
fn a_statement_of_another_provider_or_key_is_refused() {
    let (env, _wallet) = TestEnv::with_a_till();
    let purchase = env.inserts_purchase_in_review("ELECTRICITY", "04257670465");
    let statement = env.statement_of("unmatched", &[line("20261124032043-000900", "R-2", "ELECTRICITY")]);
    let unknown = env.is_refused(&["recover", "enter", &statement, "--provider", "BPCC"]);
    assert!(unknown.contains("BPCC"), "{unknown}");
    let keyless = env.is_refused(&["recover", "enter", &statement, "--provider", "BPC"]);
    assert!(keyless.contains("sealing"), "{keyless}");
    let sealed = env.confirms_vend(
        &[
            &purchase,
            "--as",
            "vended",
            "--provider-transaction",
            "R-1",
            "--units",
            "45.2 kWh",
            "--token-stdin",
        ],
        TOKEN,
    );
    assert_eq!(sealed.code, 0, "{}", sealed.stderr);
    let twice =
        [line("20261124032043-000900", "R-2", "AIRTIME"), line("20261124032043-000900", "R-3", "AIRTIME")];
    let twice =
        env.is_refused(&["recover", "enter", &env.statement_of("unmatched", &twice), "--provider", "BPC"]);
    assert!(twice.starts_with("lines 2 and 3 of the statement have the same reference, and not"), "{twice}");
    let statement = env.statement_of("unmatched", &[line("20261124032043-000900", "R-2", "ELECTRICITY")]);
    let other_key = env.enters(&statement, &SEALING_KEY.replace("07", "08"));
    assert_eq!((other_key.code, other_key.stdout.as_str()), (1, ""), "{}", other_key.stderr);
    assert_eq!(env.sql("SELECT count(*) FROM unmatched_vends"), "0");
}

/// A statement is entered in parts, so the two lines are in different ones.
#[test]
fn two_lines_about_one_vend_are_refused_however_far_apart_they_are() {
    let (env, _wallet) = TestEnv::with_a_till();
    let of = |number: usize| line(&format!("20261124032043-{number:06}"), &format!("R-{number}"), "AIRTIME");
    let mut lines: Vec<String> = (1..=5_001).map(of).collect();
    lines.push(line("20261124032043-900000", "R-1", "AIRTIME"));
    let twice =
        env.is_refused(&["recover", "enter", &env.statement_of("unmatched", &lines), "--provider", "BPC"]);
    assert!(
        twice.starts_with("lines 2 and 5003 of the statement have the same transaction, and not"),
        "{twice}"
    );
    assert_eq!(env.sql("SELECT count(*) FROM unmatched_vends"), "0");
}
