//! `vendctl purchases search`: whatever a caller can name leads to the purchase, or to the confirm that was refused.

use serde_json::Value;

use crate::{office::TestEnv, open_purchase::OpenPurchase};

impl TestEnv {
    fn inserts_refused(&self, subscriber: &str, reference: &str, at: &str) -> String {
        self.sql(&format!(
            "INSERT INTO refused_confirms (refused_at, organisation_id, client_id, user_id, subscriber_identifier,
                 external_reference, product, provider_code, currency, amount, code, request_id)
             SELECT timestamptz '{at}', o.id, 1, 1, '{subscriber}', '{reference}', 'ELECTRICITY', 'BPC', 'BWP', 2500,
                 'insufficient_balance', 'r-{reference}' FROM organisations o WHERE o.code = 'KGALE' RETURNING id"
        ))
    }

    fn inserts_at(&self, subscriber: &str, at: &str) -> String {
        let open = OpenPurchase { state: "REVIEW", product: "ELECTRICITY", subscriber, age: "1 hour" };
        let id = self.inserts_purchase(&open);
        self.sql(&format!(
            "SET session_replication_role = replica; UPDATE purchases SET created_at = timestamptz '{at}' WHERE id = {id}"
        ));
        id
    }

    /// What a search finds: `P` and the number of a purchase, `R` and the number of a refused confirm.
    fn finds(&self, arguments: &[&str]) -> Vec<String> {
        let found = self.shows(&[&["purchases", "search"], arguments].concat());
        let line = |line: &Value| {
            let kind = if line["kind"] == "purchase" { "P" } else { "R" };
            format!("{kind}{}", line["id"])
        };
        found.as_array().unwrap().iter().map(line).collect()
    }
}

#[test]
fn whatever_a_caller_can_name_finds_the_purchase_or_the_refused_confirm() {
    let (env, _) = TestEnv::with_a_till();
    let id = env.inserts_at("04257670465", "2026-11-20 10:00Z");
    let late = env.inserts_at("04257670466", "2026-11-20 12:00Z");
    env.inserts_late_vend(&late);
    let refused = env.inserts_refused("04257670465", "till-9/1", "2026-11-20 11:00Z");
    let sold = env.inserts_at("04257670467", "2026-11-20 12:30Z");
    env.sql(&format!(
        "SET session_replication_role = replica; UPDATE purchases SET state = 'SUCCESSFUL', provider_transaction = 'V-1',
             copies = NULL, last_sent_at = NULL, ended_at = now(), due_at = NULL, sealed_token = '1', token_key_id = 1
         WHERE id = {sold}"
    ));
    let (found, late, sold, refused) =
        (format!("P{id}"), format!("P{late}"), format!("P{sold}"), format!("R{refused}"));
    for (name, expected) in [
        ("04257670465", vec![&refused, &found]),
        (&id, vec![&found]),
        (&format!("TOP/2026/11/{id:0>10}"), vec![&found]),
        (&format!("top/2026/11/{id} "), vec![&found]),
        (&format!("TOP/2020/11/{id:0>10}"), vec![]),
        (&format!("till-3/{id}"), vec![&found]),
        (&format!("20261120093000-{id:0>6}"), vec![&found]),
        ("V-1", vec![&sold]),
        ("LATE-1", vec![&late]),
        ("till-9/1", vec![&refused]),
        ("r-till-9/1", vec![&refused]),
        ("nothing", vec![]),
    ] {
        assert_eq!(env.finds(&[name]).iter().collect::<Vec<_>>(), expected, "{name}");
    }
    for (name, hint) in [
        ("0808-6259-4989-7426-3587", "A token finds nothing, because it is sealed"),
        ("TILL-9/1", "Capitals, hyphens and dots of an integrator's reference count."),
    ] {
        let said = env.types(&["purchases", "search", name], "").stdout;
        assert!(said.contains(hint), "{name}: {said}");
    }
    let told = env.shows(&["purchases", "search", "V-1"]);
    assert_eq!((&told[0]["has_token"], &told[0]["at"]), (&true.into(), &"2026-11-20T12:30:00Z".into()));
}

#[test]
fn a_period_is_local_and_is_narrowed_by_phone_amount_state_and_provider() {
    let (env, _) = TestEnv::with_a_till();
    let before = format!("P{}", env.inserts_at("04257670465", "2026-11-19 21:59:59Z"));
    let first = format!("P{}", env.inserts_at("04257670466", "2026-11-19 22:00Z"));
    let last = format!("P{}", env.inserts_at("04257670467", "2026-11-20 21:59:59Z"));
    let refused = format!("R{}", env.inserts_refused("26771234567", "till-9/1", "2026-11-20 11:00Z"));
    let day = ["--since", "2026-11-20", "--until", "2026-11-21"];
    let of_the_day = |further: &[&str]| env.finds(&[&day[..], further].concat());
    assert_eq!(of_the_day(&[]), [&last, &refused, &first].map(String::clone));
    assert_eq!(of_the_day(&["--all"]).len(), 3);
    assert_eq!(of_the_day(&["--limit", "2"]), [&last, &refused].map(String::clone));
    assert_eq!(of_the_day(&["--phone", "26771234567"]).len(), 3);
    assert_eq!(of_the_day(&["--phone", "26770000000"]), Vec::<String>::new());
    let local = env.types(&["purchases", "search", "--phone", "71234567", "--since", "today"], "").stdout;
    assert!(local.contains("A phone is found with its country code"), "{local}");
    for amount in ["100.00", "101.50"] {
        assert_eq!(of_the_day(&["--amount", amount]), [&last, &first].map(String::clone), "{amount}");
    }
    assert_eq!(of_the_day(&["--amount", "25.00"]), [refused.as_str()]);
    assert_eq!(of_the_day(&["--state", "open"]), [&last, &first].map(String::clone));
    assert_eq!(of_the_day(&["--state", "failed"]), Vec::<String>::new());
    assert_eq!(of_the_day(&["--state", "refused"]), [refused.as_str()]);
    assert_eq!(of_the_day(&["--provider", "WUC"]), Vec::<String>::new());
    assert_eq!(
        env.finds(&["--since", "2026-11-19T21:59:59Z", "--until", "2026-11-20T00:00:00+02:00"]),
        [before]
    );
    env.creates_organisation("PHAKA", "staging");
    assert_eq!(of_the_day(&["-o", "PHAKA"]), Vec::<String>::new());
    let unbounded = env.types(&["purchases", "search", "--phone", "26771234567"], "");
    assert_eq!((unbounded.code, unbounded.stdout.as_str()), (1, ""), "neither a name nor a period");
    assert!(unbounded.stderr.contains("they need a start: add --since today"), "{}", unbounded.stderr);
}

#[test]
fn the_lines_come_as_csv_that_no_spreadsheet_takes_for_formulas() {
    let (env, _) = TestEnv::with_a_till();
    let id = env.inserts_at("04257670465", "2026-11-20 10:00Z");
    env.sql(&format!("UPDATE purchases SET external_reference = '=1+1' WHERE id = {id}"));
    let csv = env.types(&["purchases", "search", "04257670465", "--csv"], "").stdout;
    let expected = format!(
        "kind,id,at,state,code,organisation,product,provider,subscriber,phone,amount,external reference,\
         provider transaction,token stored\npurchase,{id},2026-11-20T10:00:00Z,REVIEW,-,KGALE,ELECTRICITY,BPC,\
         04257670465,26771234567,BWP 101.50,'=1+1,-,no\n"
    );
    assert_eq!(csv, expected);
}
