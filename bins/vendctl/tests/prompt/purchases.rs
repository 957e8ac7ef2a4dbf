//! Purchases in vendctl: listing, history, decisions and incidents.

use serde_json::{Value, json};

use crate::{
    office::{TestEnv, WHY},
    open_purchase::{OpenPurchase, SEALING_KEY, TOKEN},
};

/// The details of a vend of electricity, without its token.
const VENDED: [&str; 6] = ["--as", "vended", "--provider-transaction", "9911", "--units", "45.2 kWh"];

fn ids(list: &Value) -> Vec<String> {
    list.as_array().unwrap().iter().map(|line| line["id"].to_string()).collect()
}

#[test]
fn open_purchases_are_listed_oldest_first_and_all_others_newest_first() {
    let (env, _) = TestEnv::with_a_till();
    let insert = |state, subscriber, age| {
        env.inserts_purchase(&OpenPurchase { state, product: "ELECTRICITY", subscriber, age })
    };
    let review = insert("REVIEW", "04000000001", "2 hours");
    let doubt = insert("IN_DOUBT", "04000000002", "3 hours");
    let young = insert("IN_DOUBT", "04000000003", "1 minute");
    let due = insert("RETRY_DUE", "04000000004", "1 hour");
    let list = |filter: &str| {
        let words: Vec<&str> = filter.split(' ').filter(|word| !word.is_empty()).collect();
        ids(&env.shows(&[&["purchases", "list"], words.as_slice()].concat()))
    };
    let all = [&young, &due, &review, &doubt].map(String::clone);
    assert_eq!(list(""), all);
    assert_eq!(list("--open"), [&doubt, &review, &due, &young].map(String::clone));
    assert_eq!(list("--review"), [review.as_str()]);
    assert_eq!(list("--in-doubt"), [doubt.as_str(), young.as_str()]);
    assert_eq!(list("--in-doubt --older-than 10m"), [doubt.as_str()]);
    assert_eq!(list("-o KGALE --limit 2"), all[..2]);
    assert_eq!(list(&format!("-o KGALE --after {due}")), all[2..]);
    assert_eq!(list(&format!("--open --limit 1 --after {doubt}")), [review.as_str()]);
    assert_eq!(list("--subscriber 04000000004"), [due.as_str()]);
    assert_eq!(list(&format!("--external-reference till-3/{due}")), [due.as_str()]);
    assert_eq!(list(&format!("--open --request-id request-{due}")), [due.as_str()]);
    assert_eq!(list(&format!("-o KGALE --request-id request-{young}")), [young.as_str()]);
    assert_eq!(list(&format!("--reference TOP/2026/11/{due:0>10}")), [due.as_str()]);
    assert_eq!(list(&format!("--reference TOP/2025/11/{due:0>10}")), Vec::<String>::new());
    assert_eq!(list(&format!("--review --reference {due}")), Vec::<String>::new());

    env.creates_organisation("PHAKA", "staging");
    assert_eq!(list("-o PHAKA"), Vec::<String>::new());
    let nowhere = env.types(&["purchases", "list", "--after", "4711"], "");
    assert!(nowhere.stderr.starts_with("vendctl: there is no purchase 4711; "), "{}", nowhere.stderr);
    assert_eq!(env.types(&["purchases", "list", "--request-id", "request-1"], "").code, 2);
}

#[test]
fn the_history_of_a_purchase_is_shown_in_sentences() {
    let (env, wallet) = TestEnv::with_a_till();
    let purchase = env.inserts_purchase_in_review("ELECTRICITY", "04257670465");
    let output = env.types(&["purchases", "show", &format!("TOP/2026/11/{purchase:0>10}")], "");
    assert_eq!((output.code, output.stderr.as_str()), (0, ""));
    let reference = format!("20261120093000-{purchase:0>6}");
    for sentence in [
        format!(
            "BWP 101.50 was held in account {wallet}, and the order was recorded as {reference}, ready to be sent."
        ),
        "The outcome of the order is not known: no answer came in time.".to_owned(),
        "It was claimed, to find out the outcome.".to_owned(),
        "BPC was asked, and had no record of it. That alone proves nothing.".to_owned(),
        "The time for sending was over. It waits for an operator's decision.".to_owned(),
        format!(
            "It waits for an operator's decision, and BWP 101.50 stays held. Ask BPC for the outcome of {reference}."
        ),
        format!("`vendctl purchases resolve {purchase} --as not-vended …`"),
        "KGALE, Kgale Stores; user till, client vg_test_".to_owned(),
        format!("ussd-gateway-{purchase}"),
    ] {
        assert!(output.stdout.contains(&sentence), "{sentence}\n{}", output.stdout);
    }
    let facts = env.shows(&["purchases", "show", &purchase]);
    assert_eq!(facts["attempts"][0]["provider_reference"], reference.as_str());
    assert_eq!(facts["source_tag"], format!("ussd-gateway-{purchase}"));
    assert_eq!((&facts["has_token"], &facts["due_at"].is_string()), (&json!(false), &true));
    let seen: Vec<&str> =
        facts["events"].as_array().unwrap().iter().map(|event| event["fact"].as_str().unwrap()).collect();
    assert_eq!(seen, ["RESERVED", "LOST", "CLAIMED", "NO_RECORD", "WINDOW_CLOSED"]);

    for name in ["4711", "TOP/2025/01/0000000001"] {
        let absent = env.types(&["purchases", "show", name], "");
        assert!(
            absent.stderr.starts_with(&format!("vendctl: there is no purchase {name}; ")),
            "{}",
            absent.stderr
        );
    }
}

#[test]
fn a_vend_that_an_operator_enters_is_paid_sealed_notified_and_audited_at_once() {
    let (env, _) = TestEnv::with_a_till();
    let purchase = env.inserts_purchase_in_review("ELECTRICITY", "04257670465");
    assert_eq!(env.wallet(), "100000000|10150");
    let token = ["--token-stdin", "--amount", "100.00"];
    let outcome =
        env.confirms_vend(&[&[purchase.as_str()][..], &VENDED, &token].concat(), &format!("{TOKEN}\n"));
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""));
    let story: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(
        (&story["state"], &story["has_token"], &story["units"]),
        (&json!("SUCCESSFUL"), &json!(true), &json!("45.2 kWh"))
    );
    assert_eq!(story["provider_transaction"], "9911");
    assert_eq!(story["entries"][0]["moves"][0]["amount"], "BWP 100.00");
    assert_eq!(story["replies"], json!([]), "no reply of a provider was stored");
    assert_eq!(env.wallet(), "99989850|0");

    let audit = &story["audit"][0];
    assert_eq!(
        (&audit["actor"], &audit["action"], &audit["reason"]),
        (&json!("test_operator"), &json!("purchase.resolved"), &json!("contract 17"))
    );
    let details = json!({ "as": "vended", "on_behalf_of": "naledi", "provider_transaction": "9911", "units": "45.2 kWh", "token": true });
    assert_eq!(audit["details"], details);
    let messages: Vec<&str> = story["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["kind"].as_str().unwrap())
        .collect();
    assert_eq!(messages, ["ISSUED"; 3]);
    let digits: String = TOKEN.split(' ').collect();
    assert!(!outcome.stdout.contains(&digits) && !outcome.stdout.contains(TOKEN));

    let again = env.confirms_vend(&[&[purchase.as_str()][..], &VENDED, &token].concat(), TOKEN);
    assert_eq!(
        (again.code, again.stderr.as_str()),
        (1, format!("vendctl: purchase {purchase} is SUCCESSFUL; it stays vended and paid for\n").as_str())
    );
    assert_eq!(env.sql("SELECT count(*) FROM audit_log WHERE action = 'purchase.resolved'"), "1");
}

#[test]
fn the_money_of_a_purchase_that_an_operator_calls_not_vended_is_released() {
    let (env, _) = TestEnv::with_a_till();
    let purchase = env.inserts_purchase_in_review("ELECTRICITY", "04257670465");
    let story = env.does(&["purchases", "resolve", &purchase, "--as", "not-vended"]);
    assert_eq!((&story["state"], &story["failure"]["kind"]), (&json!("FAILED"), &json!("OPERATOR")));
    assert_eq!(story["entries"], json!([]));
    assert_eq!(env.wallet(), "100000000|0");
    let advice = "Nothing was vended and nothing was paid: an operator confirmed it.";
    assert_eq!(story["advice"], advice);
}

#[test]
fn the_rehearsal_of_a_decision_says_what_would_become_of_the_money() {
    let (env, _) = TestEnv::with_a_till();
    let purchase = env.inserts_purchase_in_review("ELECTRICITY", "04257670465");
    let rehearsal =
        ["purchases", "resolve", &purchase, "--as", "not-vended", "--dry-run", "--reason", "asked"];
    let told = env.types(&rehearsal, "");
    assert_eq!((told.code, told.stderr.as_str()), (0, ""));
    assert!(told.stdout.contains(" is released as not vended. This cannot be undone."), "{}", told.stdout);
    assert_eq!(env.sql("SELECT state FROM purchases"), "REVIEW");
}

#[test]
fn only_a_purchase_in_review_without_a_lease_can_be_decided() {
    let (env, _) = TestEnv::with_a_till();
    for (state, subscriber, why) in [
        ("IN_DOUBT", "04000000001", "no decision is possible while the provider may still answer"),
        ("RETRY_DUE", "04000000002", "nothing was vended, and the service attempts again by itself"),
    ] {
        let open = OpenPurchase { state, product: "ELECTRICITY", subscriber, age: "1 hour" };
        let purchase = env.inserts_purchase(&open);
        let refused = env.is_refused(&["purchases", "resolve", &purchase, "--as", "not-vended"]);
        assert!(refused.starts_with(&format!("purchase {purchase} is {state}; {why}")), "{refused}");
    }
    let held = env.inserts_purchase_in_review("ELECTRICITY", "04000000003");
    env.sql(&format!("UPDATE purchases SET lease_until = now() + interval '1 minute' WHERE id = {held}"));
    let refused = env.is_refused(&["purchases", "resolve", &held, "--as", "not-vended"]);
    assert!(refused.contains("the worker asks about it right now; try again"), "{refused}");
    assert_eq!(env.sql("SELECT count(*) FROM audit_log WHERE action = 'purchase.resolved'"), "0");
    let fences = "SELECT string_agg(fence::text, ' ') FROM purchases";
    assert_eq!(env.sql(fences), "2 2 2", "nothing was claimed");
}

#[test]
fn the_details_of_a_vend_must_fit_the_purchase() {
    let (env, _) = TestEnv::with_a_till();
    let electricity = env.inserts_purchase_in_review("ELECTRICITY", "04000000001");
    let airtime = env.inserts_purchase_in_review("AIRTIME", "26771234567");
    let with = |purchase: &str, extra: &[&str], token: &str| {
        let said = env.confirms_vend(
            &[&[purchase, "--as", "vended", "--provider-transaction", "9911"], extra].concat(),
            token,
        );
        assert_eq!((said.code, said.stdout.as_str()), (1, ""), "{extra:?}");
        said.stderr
    };
    let units = ["--units", "45.2 kWh"];
    let stdin = ["--token-stdin"];
    for (purchase, extra, token, why) in [
        (&electricity, units.to_vec(), TOKEN, "a vend of electricity comes with its token"),
        (&electricity, stdin.to_vec(), TOKEN, "a vend of ELECTRICITY comes with its --units"),
        (
            &electricity,
            [&stdin[..], &["--units", "45.2 kl"]].concat(),
            TOKEN,
            "electricity is counted in kWh",
        ),
        (
            &electricity,
            [&stdin[..], &units].concat(),
            "0808",
            "that is no token: a token for electricity has 20 digits",
        ),
        (&electricity, [&stdin[..], &units].concat(), "", "that is no token: a meter token is empty"),
        (
            &electricity,
            [&stdin[..], &units, &["--amount", "101.50"]].concat(),
            TOKEN,
            "the provider was asked for BWP 100.00, and BWP 101.50 is given",
        ),
        (&airtime, stdin.to_vec(), TOKEN, "a vend of airtime has neither token nor --units"),
        (&airtime, units.to_vec(), "", "a vend of airtime has neither token nor --units"),
    ] {
        let said = with(purchase, &extra, token);
        assert!(said.contains(why), "{said}");
    }
    let nothing = ["purchases", "resolve", &electricity, "--as", "not-vended", "--units", "45.2 kWh"];
    assert!(env.is_refused(&nothing).starts_with("a purchase that was not vended has no transaction"));
    let unnamed =
        env.types(&[&["purchases", "resolve", &electricity, "--as", "vended"], &WHY[..]].concat(), "");
    assert_eq!(unnamed.code, 2, "{}", unnamed.stderr);
    assert_eq!(env.sql("SELECT string_agg(DISTINCT state || fence, ' ') FROM purchases"), "REVIEW2");

    let vended = env.confirms_vend(&[&airtime, "--as", "vended", "--provider-transaction", "R-1"], "");
    assert_eq!((vended.code, vended.stderr.as_str()), (0, ""));
}

/// The arguments that enter a vend with this transaction id and a token on standard input.
fn entering<'a>(purchase: &'a str, name: &'a str) -> Vec<&'a str> {
    let vended = ["--as", "vended", "--provider-transaction", name, "--units", "45.2 kWh", "--token-stdin"];
    [&["purchases", "resolve", purchase][..], &vended, &WHY].concat()
}

#[test]
fn a_token_is_sealed_only_with_the_key_of_the_servers() {
    let (env, _) = TestEnv::with_a_till();
    let [first, second] =
        ["04000000001", "04000000002"].map(|meter| env.inserts_purchase_in_review("ELECTRICITY", meter));
    let unsealed = env.types(&entering(&first, "9911"), TOKEN);
    assert!(unsealed.stderr.contains("give vendctl their [sealing] section"), "{}", unsealed.stderr);

    let key = |key| [("VENDGATE__SEALING__CURRENT__ID", "1"), ("VENDGATE__SEALING__CURRENT__KEY", key)];
    let sealed = env.types_with(&key(SEALING_KEY), &entering(&first, "9911"), TOKEN);
    assert_eq!((sealed.code, sealed.stderr.as_str()), (0, ""));
    let other = SEALING_KEY.replace('7', "8");
    let refused = env.types_with(&key(&other), &entering(&second, "9912"), TOKEN);
    assert_eq!(refused.code, 1);
    assert!(
        refused.stderr.contains("the sealing key is not the one that the servers seal with"),
        "{}",
        refused.stderr
    );
    assert_eq!(env.sql(&format!("SELECT state, fence FROM purchases WHERE id = {second}")), "REVIEW|2");
}

#[test]
fn a_token_can_be_read_from_a_file() {
    let (env, _) = TestEnv::with_a_till();
    let purchase = env.inserts_purchase_in_review("ELECTRICITY", "04257670465");
    let file = std::env::temp_dir().join(format!("vendctl-token-{}", std::process::id()));
    std::fs::write(&file, TOKEN).unwrap();
    let named = ["--token-file", file.to_str().unwrap()];
    let outcome = env.confirms_vend(&[&[purchase.as_str()][..], &VENDED, &named].concat(), "");
    std::fs::remove_file(&file).unwrap();
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""));
}

#[test]
fn an_incident_is_listed_until_it_is_closed_and_can_be_shown_afterwards() {
    let (env, _) = TestEnv::with_a_till();
    let env = env.with_people();
    let purchase = env.inserts_purchase_in_review("ELECTRICITY", "04257670465");
    // Who released a purchase does not close the incident about it.
    env.does_as("lesego", &format!("purchases resolve {purchase} --as not-vended"));
    let incident = env.inserts_late_vend(&purchase);
    let open = env.shows(&["incidents", "list"]);
    assert_eq!((&open[0]["kind"], &open[0]["provider_transaction"]), (&json!("LATE_VEND"), &json!("LATE-1")));
    assert_eq!((&open[0]["suspense"], &open[0]["has_token"]), (&json!("BWP 100.00"), &json!(false)));
    let story = env.types(&["purchases", "show", &purchase], "").stdout;
    assert!(story.contains("vend LATE-1 was found after the money had been released"), "{story}");

    let advice = |closed: &str| {
        format!(
            "It failed, and nothing was paid: an operator confirmed it. However, BPC did vend, as LATE-1, and no wallet paid \
             for that. Incident {incident} {closed}: see `vendctl incidents show {incident}`."
        )
    };
    assert!(story.contains(&advice("is open")), "{story}");

    let rehearsed = env.does(&["incidents", "close", &incident, "--dry-run"]);
    assert_eq!(rehearsed["closed_by"], Value::Null);
    let closed = env.does(&["incidents", "close", &incident]);
    let output = env.shows(&["purchases", "show", &purchase])["advice"].clone();
    assert_eq!(
        output,
        advice(&format!("was closed by test_operator at {}", closed["closed_at"].as_str().unwrap()))
    );
    assert_eq!(
        (&closed["closed_by"], &closed["closed_because"]),
        (&json!("test_operator"), &json!("contract 17"))
    );
    assert_eq!(env.shows(&["incidents", "list"]), json!([]));
    assert_eq!(ids(&env.shows(&["incidents", "list", "--all"])), [incident.as_str()]);
    assert_eq!(env.shows(&["incidents", "show", &incident]), closed);
    let again = env.is_refused(&["incidents", "close", &incident]);
    assert_eq!(again, format!("test_operator closed incident {incident} before"));
    assert!(env.is_refused(&["incidents", "close", "4711"]).starts_with("there is no incident 4711"));
    let operator_actions = env.shows(&["purchases", "show", &purchase])["audit"].clone();
    let actions: Vec<&str> = operator_actions
        .as_array()
        .unwrap()
        .iter()
        .map(|operator_action| operator_action["action"].as_str().unwrap())
        .collect();
    assert_eq!(actions, ["purchase.resolved", "incident.closed"]);
}

#[test]
fn a_second_vend_is_shown_besides_the_one_that_was_paid_for() {
    let (env, _) = TestEnv::with_a_till();
    let purchase = env.inserts_purchase_in_review("AIRTIME", "26771234567");
    let entered = env.confirms_vend(&[&purchase, "--as", "vended", "--provider-transaction", "R-1"], "");
    assert_eq!(entered.code, 0, "{}", entered.stderr);
    env.sql(&format!(
        "INSERT INTO incidents (purchase_id, kind, at, provider_transaction) VALUES ({purchase}, 'SECOND_VEND', now(), 'R-2')"
    ));
    let incident = env.sql("SELECT max(id) FROM incidents");
    let story = env.types(&["purchases", "show", &purchase], "").stdout;
    for sentence in [
        format!(
            "Incident {incident} was opened: vend R-2 was found, in addition to the vend that was paid for."
        ),
        format!(
            "It was vended as R-1 and BWP 101.50 was paid. It has no token. However, BPC vended a second time, as R-2, and no wallet \
             paid for that. Incident {incident} is open: see `vendctl incidents show {incident}`."
        ),
    ] {
        assert!(story.contains(&sentence), "{sentence}\n{story}");
    }
}

#[test]
fn a_vend_is_entered_for_one_purchase_only() {
    let (env, _) = TestEnv::with_a_till();
    let [first, second] =
        ["26771234567", "26771234568"].map(|phone| env.inserts_purchase_in_review("AIRTIME", phone));
    let enter = |purchase: &str, name| {
        env.confirms_vend(&[purchase, "--as", "vended", "--provider-transaction", name], "")
    };
    assert_eq!(enter(&first, "R-1").code, 0);
    let refused = enter(&second, "R-1");
    let said = format!("vendctl: vend R-1 is that of purchase {first}; nothing was decided; compare both");
    assert!(refused.code == 1 && refused.stderr.starts_with(&said), "{}", refused.stderr);
    assert_eq!(enter(&second, "R-2").code, 0);
}

#[test]
fn no_text_from_outside_controls_the_terminal() {
    let (env, _) = TestEnv::with_a_till();
    let purchase = env.inserts_purchase_in_review("ELECTRICITY", "04257670465");
    env.sql(
        "UPDATE purchases SET subscriber_details = E'K.\\u001b[2J\\u009b31m MOLEFE\\nSUCCESSFUL',
             source_tag = E'\\u001b[2Jgateway\\nSUCCESSFUL'",
    );
    for form in [&["purchases", "show", &purchase][..], &["--json", "purchases", "show", &purchase]] {
        let output = env.types(form, "").stdout;
        let command = output.chars().find(|character| character.is_control() && *character != '\n');
        assert_eq!(command, None, "{output:?}");
        assert!(!output.contains("\nSUCCESSFUL"), "{output}");
    }
    let facts = env.shows(&["purchases", "show", &purchase]);
    assert_eq!(facts["subscriber_details"], "K.\u{1b}[2J\u{9b}31m MOLEFE\nSUCCESSFUL");
}

#[test]
fn waiting_stuck_and_given_up_messages_are_listed() {
    let (env, _) = TestEnv::with_a_till();
    let purchase = env.inserts_purchase_in_review("AIRTIME", "26771234567");
    let entered = env.confirms_vend(&[&purchase, "--as", "vended", "--provider-transaction", "R-1"], "");
    assert_eq!(entered.code, 0, "{}", entered.stderr);
    let count =
        |filter: &[&str]| env.shows(&[&["outbox", "list"], filter].concat()).as_array().unwrap().len();
    assert_eq!((count(&[]), count(&["--stuck"]), count(&["--given-up"])), (3, 0, 0));
    env.sql(
        "UPDATE outbox SET attempts = 3 WHERE channel = 'EMAIL';
         UPDATE outbox SET given_up_at = now(), given_up_because = 'NOBODY' WHERE channel = 'SMS' AND recipient = 'REQUESTER'",
    );
    assert_eq!((count(&[]), count(&["--stuck"]), count(&["--given-up"])), (2, 1, 1));
    let given_up = env.shows(&["outbox", "list", "--given-up"]);
    assert_eq!(
        (&given_up[0]["given_up_because"], &given_up[0]["purchase"].to_string()),
        (&json!("NOBODY"), &purchase)
    );
    let story = env.types(&["purchases", "show", &purchase], "").stdout;
    assert!(story.contains("The sms to the requester was given up: NOBODY."), "{story}");
}
