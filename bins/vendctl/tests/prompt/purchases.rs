//! Purchases at the prompt: found, told, and decided where no provider can tell.

use serde_json::{Value, json};

use crate::{
    office::{Office, WHY},
    shelf::{Left, SEALING_KEY, TOKEN},
};

/// What a vend of electricity came to, but for its token.
const VENDED: [&str; 6] = ["--as", "vended", "--provider-transaction", "9911", "--units", "45.2 kWh"];

fn ids(list: &Value) -> Vec<String> {
    list.as_array().unwrap().iter().map(|line| line["id"].to_string()).collect()
}

#[test]
fn what_is_open_comes_with_the_oldest_first_and_all_else_with_the_newest() {
    let (office, _) = Office::with_a_till();
    let left =
        |state, subscriber, age| office.leaves(&Left { state, product: "ELECTRICITY", subscriber, age });
    let review = left("REVIEW", "04000000001", "2 hours");
    let doubt = left("IN_DOUBT", "04000000002", "3 hours");
    let young = left("IN_DOUBT", "04000000003", "1 minute");
    let due = left("RETRY_DUE", "04000000004", "1 hour");
    let list = |filter: &str| {
        let words: Vec<&str> = filter.split(' ').filter(|word| !word.is_empty()).collect();
        ids(&office.shows(&[&["purchases", "list"], words.as_slice()].concat()))
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

    office.lets_in("PHAKA", "staging");
    assert_eq!(list("-o PHAKA"), Vec::<String>::new());
    let nowhere = office.types(&["purchases", "list", "--after", "4711"], "");
    assert!(nowhere.stderr.starts_with("vendctl: there is no purchase 4711; "), "{}", nowhere.stderr);
    assert_eq!(office.types(&["purchases", "list", "--request-id", "request-1"], "").code, 2);
}

#[test]
fn the_story_of_a_purchase_can_be_told_at_the_phone() {
    let (office, wallet) = Office::with_a_till();
    let purchase = office.leaves_in_review("ELECTRICITY", "04257670465");
    let told = office.types(&["purchases", "show", &format!("TOP/2026/11/{purchase:0>10}")], "");
    assert_eq!((told.code, told.stderr.as_str()), (0, ""));
    let reference = format!("20261120093000-{purchase:0>6}");
    for sentence in [
        format!(
            "BWP 101.50 was held in account {wallet}, and the order was put on record as {reference}, ready to leave."
        ),
        "Nobody knows what became of the order: no answer came in time.".to_owned(),
        "It was taken over, to find out.".to_owned(),
        "BPC was asked, and had no record of it. That alone proves nothing.".to_owned(),
        "The time for sending was over. It waits for a person.".to_owned(),
        format!("It waits for a person, and BWP 101.50 stays held. Ask BPC what became of {reference}."),
        format!("`vendctl purchases resolve {purchase} --as not-vended …`"),
        "KGALE, Kgale Stores; user till, client vg_test_".to_owned(),
        format!("ussd-gateway-{purchase}"),
    ] {
        assert!(told.stdout.contains(&sentence), "{sentence}\n{}", told.stdout);
    }
    let facts = office.shows(&["purchases", "show", &purchase]);
    assert_eq!(facts["attempts"][0]["provider_reference"], reference.as_str());
    assert_eq!(facts["source_tag"], format!("ussd-gateway-{purchase}"));
    assert_eq!((&facts["has_token"], &facts["due_at"].is_string()), (&json!(false), &true));
    let seen: Vec<&str> =
        facts["events"].as_array().unwrap().iter().map(|event| event["fact"].as_str().unwrap()).collect();
    assert_eq!(seen, ["RESERVED", "LOST", "CLAIMED", "NO_RECORD", "WINDOW_CLOSED"]);

    for name in ["4711", "TOP/2025/01/0000000001"] {
        let absent = office.types(&["purchases", "show", name], "");
        assert!(
            absent.stderr.starts_with(&format!("vendctl: there is no purchase {name}; ")),
            "{}",
            absent.stderr
        );
    }
}

#[test]
fn a_vend_that_a_person_vouches_for_is_paid_sealed_told_of_and_audited_at_once() {
    let (office, _) = Office::with_a_till();
    let purchase = office.leaves_in_review("ELECTRICITY", "04257670465");
    assert_eq!(office.wallet(), "100000000|10150");
    let token = ["--token-stdin", "--amount", "100.00"];
    let outcome =
        office.vouches(&[&[purchase.as_str()][..], &VENDED, &token].concat(), &format!("{TOKEN}\n"));
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""));
    let story: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(
        (&story["state"], &story["has_token"], &story["units"]),
        (&json!("SUCCESSFUL"), &json!(true), &json!("45.2 kWh"))
    );
    assert_eq!(story["provider_transaction"], "9911");
    assert_eq!(story["entries"][0]["moves"][0]["amount"], "BWP 100.00");
    assert_eq!(story["replies"], json!([]), "nothing was said by the provider");
    assert_eq!(office.wallet(), "99989850|0");

    let audit = &story["audit"][0];
    assert_eq!(
        (&audit["actor"], &audit["action"], &audit["reason"]),
        (&json!("naledi"), &json!("purchase.resolved"), &json!("contract 17"))
    );
    let details =
        json!({ "as": "vended", "provider_transaction": "9911", "units": "45.2 kWh", "token": true });
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

    let again = office.vouches(&[&[purchase.as_str()][..], &VENDED, &token].concat(), TOKEN);
    assert_eq!(
        (again.code, again.stderr.as_str()),
        (1, format!("vendctl: purchase {purchase} is SUCCESSFUL; it stays vended and paid for\n").as_str())
    );
    assert_eq!(office.sql("SELECT count(*) FROM audit_log WHERE action = 'purchase.resolved'"), "1");
}

#[test]
fn what_a_person_found_not_to_be_vended_is_given_back() {
    let (office, _) = Office::with_a_till();
    let purchase = office.leaves_in_review("ELECTRICITY", "04257670465");
    let story = office.does(&["purchases", "resolve", &purchase, "--as", "not-vended"]);
    assert_eq!((&story["state"], &story["failure"]["kind"]), (&json!("FAILED"), &json!("OPERATOR")));
    assert_eq!(story["entries"], json!([]));
    assert_eq!(office.wallet(), "100000000|0");
    let advice = "Nothing was vended and nothing was paid: an operator vouched for that.";
    assert_eq!(story["advice"], advice);
}

#[test]
fn only_what_is_in_review_and_held_by_nobody_is_decided() {
    let (office, _) = Office::with_a_till();
    for (state, subscriber, why) in [
        ("IN_DOUBT", "04000000001", "nobody decides while a provider may still tell"),
        ("RETRY_DUE", "04000000002", "nothing was vended, and the service attempts again by itself"),
    ] {
        let left = Left { state, product: "ELECTRICITY", subscriber, age: "1 hour" };
        let purchase = office.leaves(&left);
        let refused = office.is_refused(&["purchases", "resolve", &purchase, "--as", "not-vended"]);
        assert!(refused.starts_with(&format!("purchase {purchase} is {state}; {why}")), "{refused}");
    }
    let held = office.leaves_in_review("ELECTRICITY", "04000000003");
    office.sql(&format!("UPDATE purchases SET lease_until = now() + interval '1 minute' WHERE id = {held}"));
    let refused = office.is_refused(&["purchases", "resolve", &held, "--as", "not-vended"]);
    assert!(refused.contains("the worker asks about it right now; try again"), "{refused}");
    assert_eq!(office.sql("SELECT count(*) FROM audit_log WHERE action = 'purchase.resolved'"), "0");
    let fences = "SELECT string_agg(fence::text, ' ') FROM purchases";
    assert_eq!(office.sql(fences), "2 2 2", "nothing was claimed");
}

#[test]
fn what_is_entered_must_be_what_the_purchase_could_have_yielded() {
    let (office, _) = Office::with_a_till();
    let electricity = office.leaves_in_review("ELECTRICITY", "04000000001");
    let airtime = office.leaves_in_review("AIRTIME", "26771234567");
    let with = |purchase: &str, extra: &[&str], token: &str| {
        let said = office.vouches(
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
    assert!(office.is_refused(&nothing).starts_with("what was not vended has no transaction"));
    let unnamed =
        office.types(&[&["purchases", "resolve", &electricity, "--as", "vended"], &WHY[..]].concat(), "");
    assert_eq!(unnamed.code, 2, "{}", unnamed.stderr);
    assert_eq!(office.sql("SELECT string_agg(DISTINCT state || fence, ' ') FROM purchases"), "REVIEW2");

    let vended = office.vouches(&[&airtime, "--as", "vended", "--provider-transaction", "R-1"], "");
    assert_eq!((vended.code, vended.stderr.as_str()), (0, ""));
}

/// The words that vouch for a vend of this name whose token comes on standard input.
fn entering<'a>(purchase: &'a str, name: &'a str) -> Vec<&'a str> {
    let vended = ["--as", "vended", "--provider-transaction", name, "--units", "45.2 kWh", "--token-stdin"];
    [&["purchases", "resolve", purchase][..], &vended, &WHY].concat()
}

#[test]
fn a_token_is_sealed_with_the_key_of_the_servers_or_not_at_all() {
    let (office, _) = Office::with_a_till();
    let [first, second] =
        ["04000000001", "04000000002"].map(|meter| office.leaves_in_review("ELECTRICITY", meter));
    let unsealed = office.types(&entering(&first, "9911"), TOKEN);
    assert!(unsealed.stderr.contains("give vendctl their [sealing] section"), "{}", unsealed.stderr);

    let key = |key| [("VENDGATE__SEALING__CURRENT__ID", "1"), ("VENDGATE__SEALING__CURRENT__KEY", key)];
    let sealed = office.types_with(&key(SEALING_KEY), &entering(&first, "9911"), TOKEN);
    assert_eq!((sealed.code, sealed.stderr.as_str()), (0, ""));
    let other = SEALING_KEY.replace('7', "8");
    let refused = office.types_with(&key(&other), &entering(&second, "9912"), TOKEN);
    assert_eq!(refused.code, 1);
    assert!(
        refused.stderr.contains("the sealing key is not the one that the servers seal with"),
        "{}",
        refused.stderr
    );
    assert_eq!(office.sql(&format!("SELECT state, fence FROM purchases WHERE id = {second}")), "REVIEW|2");
}

#[test]
fn a_token_can_lie_in_a_file() {
    let (office, _) = Office::with_a_till();
    let purchase = office.leaves_in_review("ELECTRICITY", "04257670465");
    let file = std::env::temp_dir().join(format!("vendctl-token-{}", std::process::id()));
    std::fs::write(&file, TOKEN).unwrap();
    let named = ["--token-file", file.to_str().unwrap()];
    let outcome = office.vouches(&[&[purchase.as_str()][..], &VENDED, &named].concat(), "");
    std::fs::remove_file(&file).unwrap();
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""));
}

#[test]
fn an_incident_is_listed_until_somebody_closes_it_and_stays_on_file() {
    let (office, _) = Office::with_a_till();
    let purchase = office.leaves_in_review("ELECTRICITY", "04257670465");
    office.does(&["purchases", "resolve", &purchase, "--as", "not-vended"]);
    let incident = office.finds_a_late_vend(&purchase);
    let open = office.shows(&["incidents", "list"]);
    assert_eq!((&open[0]["kind"], &open[0]["provider_transaction"]), (&json!("LATE_VEND"), &json!("LATE-1")));
    assert_eq!((&open[0]["suspense"], &open[0]["has_token"]), (&json!("BWP 100.00"), &json!(false)));
    let story = office.types(&["purchases", "show", &purchase], "").stdout;
    assert!(story.contains("vend LATE-1 came to light when nobody paid for it any more"), "{story}");

    let advice = |closed: &str| {
        format!(
            "It failed, and nothing was paid: an operator vouched for that. But BPC did vend, as LATE-1, which nobody paid \
             for: that is incident {incident}, and {closed}; see `vendctl incidents show {incident}`."
        )
    };
    assert!(story.contains(&advice("nobody has seen to it yet")), "{story}");

    let closed = office.does(&["incidents", "close", &incident]);
    let told = office.shows(&["purchases", "show", &purchase])["advice"].clone();
    assert_eq!(told, advice(&format!("naledi closed it {}", closed["closed_at"].as_str().unwrap())));
    assert_eq!((&closed["closed_by"], &closed["closed_because"]), (&json!("naledi"), &json!("contract 17")));
    assert_eq!(office.shows(&["incidents", "list"]), json!([]));
    assert_eq!(ids(&office.shows(&["incidents", "list", "--all"])), [incident.as_str()]);
    assert_eq!(office.shows(&["incidents", "show", &incident]), closed);
    let again = office.is_refused(&["incidents", "close", &incident]);
    assert_eq!(again, format!("naledi closed incident {incident} before"));
    assert!(office.is_refused(&["incidents", "close", "4711"]).starts_with("there is no incident 4711"));
    let deeds = office.shows(&["purchases", "show", &purchase])["audit"].clone();
    let actions: Vec<&str> =
        deeds.as_array().unwrap().iter().map(|deed| deed["action"].as_str().unwrap()).collect();
    assert_eq!(actions, ["purchase.resolved", "incident.closed"]);
}

#[test]
fn a_second_vend_is_told_of_beside_the_one_that_was_paid_for() {
    let (office, _) = Office::with_a_till();
    let purchase = office.leaves_in_review("AIRTIME", "26771234567");
    let vouched = office.vouches(&[&purchase, "--as", "vended", "--provider-transaction", "R-1"], "");
    assert_eq!(vouched.code, 0, "{}", vouched.stderr);
    office.sql(&format!(
        "INSERT INTO incidents (purchase_id, kind, at, provider_transaction) VALUES ({purchase}, 'SECOND_VEND', now(), 'R-2')"
    ));
    let incident = office.sql("SELECT max(id) FROM incidents");
    let story = office.types(&["purchases", "show", &purchase], "").stdout;
    for sentence in [
        format!("Incident {incident} was opened: vend R-2 came to light beside the one that was paid for."),
        format!(
            "It was vended as R-1 and BWP 101.50 was paid. It has no token. But BPC vended a second time, as R-2, which \
             nobody paid for: that is incident {incident}, and nobody has seen to it yet; see `vendctl incidents show \
             {incident}`."
        ),
    ] {
        assert!(story.contains(&sentence), "{sentence}\n{story}");
    }
}

#[test]
fn a_vend_is_entered_for_one_purchase_only() {
    let (office, _) = Office::with_a_till();
    let [first, second] =
        ["26771234567", "26771234568"].map(|phone| office.leaves_in_review("AIRTIME", phone));
    let enter = |purchase: &str, name| {
        office.vouches(&[purchase, "--as", "vended", "--provider-transaction", name], "")
    };
    assert_eq!(enter(&first, "R-1").code, 0);
    let refused = enter(&second, "R-1");
    let said = format!("vendctl: vend R-1 is that of purchase {first}; nothing was decided; compare both");
    assert!(refused.code == 1 && refused.stderr.starts_with(&said), "{}", refused.stderr);
    assert_eq!(enter(&second, "R-2").code, 0);
}

#[test]
fn nothing_that_others_have_worded_commands_the_terminal() {
    let (office, _) = Office::with_a_till();
    let purchase = office.leaves_in_review("ELECTRICITY", "04257670465");
    office.sql(
        "UPDATE purchases SET subscriber_details = E'K.\\u001b[2J\\u009b31m MOLEFE\\nSUCCESSFUL',
             source_tag = E'\\u001b[2Jgateway\\nSUCCESSFUL'",
    );
    for form in [&["purchases", "show", &purchase][..], &["--json", "purchases", "show", &purchase]] {
        let told = office.types(form, "").stdout;
        let command = told.chars().find(|character| character.is_control() && *character != '\n');
        assert_eq!(command, None, "{told:?}");
        assert!(!told.contains("\nSUCCESSFUL"), "{told}");
    }
    let facts = office.shows(&["purchases", "show", &purchase]);
    assert_eq!(facts["subscriber_details"], "K.\u{1b}[2J\u{9b}31m MOLEFE\nSUCCESSFUL");
}

#[test]
fn messages_are_listed_while_they_wait_where_they_stick_and_when_they_are_given_up() {
    let (office, _) = Office::with_a_till();
    let purchase = office.leaves_in_review("AIRTIME", "26771234567");
    let vouched = office.vouches(&[&purchase, "--as", "vended", "--provider-transaction", "R-1"], "");
    assert_eq!(vouched.code, 0, "{}", vouched.stderr);
    let count =
        |filter: &[&str]| office.shows(&[&["outbox", "list"], filter].concat()).as_array().unwrap().len();
    assert_eq!((count(&[]), count(&["--stuck"]), count(&["--given-up"])), (3, 0, 0));
    office.sql(
        "UPDATE outbox SET attempts = 3 WHERE channel = 'EMAIL';
         UPDATE outbox SET given_up_at = now(), given_up_because = 'NOBODY' WHERE channel = 'SMS' AND recipient = 'REQUESTER'",
    );
    assert_eq!((count(&[]), count(&["--stuck"]), count(&["--given-up"])), (2, 1, 1));
    let given_up = office.shows(&["outbox", "list", "--given-up"]);
    assert_eq!(
        (&given_up[0]["given_up_because"], &given_up[0]["purchase"].to_string()),
        (&json!("NOBODY"), &purchase)
    );
    let story = office.types(&["purchases", "show", &purchase], "").stdout;
    assert!(story.contains("The sms to the requester was given up: NOBODY."), "{story}");
}
