//! Reconciliation: a provider's statement is held against the books, and what they do not agree about is found, kept and decided.

use std::fs;

use serde_json::{Value, json};

use crate::{
    office::{Outcome, TestEnv, WHY},
    open_purchase::{OpenPurchase, SEALING_KEY, TOKEN},
    shapes::{fields, sorted},
};

const HEADER: &str = "reference,transaction,time,product,subscriber,amount,currency,token";

/// A moment before now, as an argument.
pub fn ago(env: &TestEnv, interval: &str) -> String {
    env.sql(&format!(
        "SELECT to_char((clock_timestamp() - interval '{interval}') AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')"
    ))
}

impl TestEnv {
    /// Inserts a purchase of BWP 100.00 that the provider vended within seconds. Returns its number.
    pub fn sold(&self, product: &str, subscriber: &str, age: &str) -> String {
        let id = self.inserts_purchase(&OpenPurchase { state: "REVIEW", product, subscriber, age });
        self.sql(&format!(
            "SET session_replication_role = replica;
             UPDATE purchases SET state = 'SUCCESSFUL', copies = NULL, last_sent_at = NULL, due_at = NULL,
                 ended_at = created_at + interval '5 seconds', provider_transaction = 'R-{id}',
                 token_key_id = CASE product WHEN 'ELECTRICITY' THEN 1 END,
                 sealed_token = CASE product WHEN 'ELECTRICITY' THEN 'sealed by another'::bytea END
             WHERE id = {id}"
        ));
        id
    }

    /// The line of a statement about a purchase.
    pub fn listed(&self, id: &str) -> String {
        self.sql(&format!(
            "SELECT concat_ws(',', provider_reference, coalesce(provider_transaction, 'R-{id}'),
                 to_char((created_at + interval '2 seconds') AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"'),
                 product, subscriber_identifier, '100.00', 'BWP', '')
             FROM purchases WHERE id = {id}"
        ))
    }

    /// Writes a statement into a file of this name. Returns the file's path.
    pub fn statement_of(&self, name: &str, lines: &[String]) -> String {
        let path = self.file(&format!("{name}.csv"));
        fs::write(&path, format!("{HEADER}\n{}\n", lines.join("\n"))).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Reconciles BPC's statement of this period, with a tolerance of a minute.
    pub fn reconciles(&self, file: &str, from: &str, until: &str) -> Value {
        let period = ["--from", from, "--until", until, "--tolerance", "1m"];
        self.does(&[&["reconcile", "BPC", file], &period[..]].concat())
    }

    fn reconciles_with_the_key(&self, file: &str, from: &str, until: &str) -> Outcome {
        let key = [("VENDGATE__SEALING__CURRENT__ID", "1"), ("VENDGATE__SEALING__CURRENT__KEY", SEALING_KEY)];
        let command =
            ["--json", "reconcile", "BPC", file, "--from", from, "--until", until, "--tolerance", "0s"];
        self.types_with(&key, &[&command[..], &WHY].concat(), "")
    }
}

/// Reference and what was found of each discrepancy, in order.
fn found(reconciled: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let one = |one: &Value| {
        let differs: Vec<String> = one["differs"].as_array().unwrap().iter().map(text).collect();
        (text(&one["reference"]), [vec![text(&one["finding"])], differs].concat().join(" "))
    };
    let mut all: Vec<_> = reconciled["discrepancies"].as_array().unwrap().iter().map(one).collect();
    all.sort_unstable();
    all
}

/// How many purchases were left out at the begin and at the end.
fn left_out(reconciled: &Value) -> (i64, i64) {
    let count = |edge: &str| reconciled[format!("left_out_at_{edge}")].as_i64().unwrap();
    (count("begin"), count("end"))
}

fn counts(reconciled: &Value) -> Vec<i64> {
    let names = ["lines", "matched", "open", "only_theirs", "different", "only_ours"];
    names.iter().map(|name| reconciled[name].as_i64().unwrap()).collect()
}

#[test]
fn every_planted_difference_is_found_and_nothing_else_however_often() {
    let (env, _wallet) = TestEnv::with_a_till();
    let meter = |n: usize| format!("0425767046{n}");
    let sold: Vec<String> = (0..9).map(|n| env.sold("ELECTRICITY", &meter(n), "3 hours")).collect();
    let open = env.inserts_purchase(&OpenPurchase {
        state: "REVIEW",
        product: "AIRTIME",
        subscriber: "26771400001",
        age: "3 hours",
    });
    let references: Vec<String> = sold
        .iter()
        .map(|id| env.sql(&format!("SELECT provider_reference FROM purchases WHERE id = {id}")))
        .collect();
    let mut lines: Vec<String> = sold.iter().map(|id| env.listed(id)).collect();
    lines[1] = lines[1].replace("100.00", "100.01");
    lines[2] = lines[2].replace("BWP", "ZAR");
    lines[3] = lines[3].replace(&meter(3), "04257670499");
    lines[4] = lines[4].replace(&format!("R-{}", sold[4]), "R-OTHER");
    lines[5] = lines[5].replace("ELECTRICITY", "WATER");
    let late = ago(&env, "2 hours");
    lines[6] = lines[6]
        .split(',')
        .enumerate()
        .map(|(n, cell)| if n == 2 { &late } else { cell })
        .collect::<Vec<_>>()
        .join(",");
    lines.push(lines[0].clone());
    let missing = lines.remove(7);
    lines.push(format!("20261124032043-000900,R-900,{late},ELECTRICITY,04257670498,20.00,BWP,"));
    lines.push(env.listed(&open));
    let file = env.statement_of("planted", &lines);
    let (from, until) = (ago(&env, "4 hours"), ago(&env, "1 hour"));

    let first = env.reconciles(&file, &from, &until);
    let mut expected = vec![
        (references[0].clone(), "different repeated".to_owned()),
        (references[1].clone(), "different amount".to_owned()),
        (references[2].clone(), "different currency".to_owned()),
        (references[3].clone(), "different subscriber".to_owned()),
        (references[4].clone(), "different transaction".to_owned()),
        (references[5].clone(), "different product".to_owned()),
        (references[6].clone(), "different time".to_owned()),
        (references[7].clone(), "only ours".to_owned()),
        ("20261124032043-000900".to_owned(), "only theirs".to_owned()),
    ];
    expected.sort_unstable();
    assert!(missing.starts_with(&references[7]));
    assert_eq!(found(&first), expected);
    assert_eq!(counts(&first), [11, 2, 1, 1, 7, 1]);
    let rows = |table: &str| env.sql(&format!("SELECT count(*) FROM {table}"));
    assert_eq!((rows("discrepancies"), rows("reconciliation_findings")), ("9".to_owned(), "9".to_owned()));

    let again = env.reconciles(&file, &from, &until);
    assert_eq!((found(&again), counts(&again)), (expected, counts(&first)));
    assert!(again["discrepancies"].as_array().unwrap().iter().all(|one| one["first_found_in"] == json!(1)));
    assert_eq!((rows("discrepancies"), rows("reconciliations")), ("9".to_owned(), "2".to_owned()));
    assert_eq!(
        (rows("unmatched_vends"), rows("incidents"), rows("postings")),
        ("0".to_owned(), "0".to_owned(), "1".to_owned())
    );
    assert_eq!(rows("audit_log WHERE action = 'provider.reconciled' AND subject = 'provider:BPC'"), "2");
}

#[test]
fn a_vend_after_the_end_is_known_by_its_incident_and_another_is_not() {
    let (env, _wallet) = TestEnv::with_a_till();
    let failed = env.sold("AIRTIME", "26771400001", "3 hours");
    env.sql(&format!(
        "SET session_replication_role = replica;
         UPDATE purchases SET state = 'FAILED', failure = 'NO_RECORD', provider_transaction = NULL WHERE id = {failed}"
    ));
    let line = env.listed(&failed);
    let (from, until) = (ago(&env, "4 hours"), ago(&env, "1 hour"));
    let file = env.statement_of("late", std::slice::from_ref(&line));
    let kinds =
        |reconciled: &Value| found(reconciled).into_iter().map(|(_reference, kind)| kind).collect::<Vec<_>>();
    assert_eq!(kinds(&env.reconciles(&file, &from, &until)), ["different end"]);

    env.inserts_late_vend(&failed);
    let known = env.statement_of("known", &[line.replace(&format!("R-{failed}"), "LATE-1")]);
    assert_eq!(kinds(&env.reconciles(&known, &from, &until)), Vec::<String>::new());
}

#[test]
fn a_rehearsal_finds_the_same_and_keeps_nothing() {
    let (env, _wallet) = TestEnv::with_a_till();
    let sold = env.sold("AIRTIME", "26771400001", "3 hours");
    let other = env.sold("AIRTIME", "26771400002", "3 hours");
    let file = env.statement_of("rehearsed", &[env.listed(&sold).replace("100.00", "90.00")]);
    let (from, until) = (ago(&env, "4 hours"), ago(&env, "1 hour"));
    let period = ["--from", &from, "--until", &until, "--dry-run"];
    let rehearsed = env.does(&[&["reconcile", "BPC", &file], &period[..]].concat());
    let kinds: Vec<String> = found(&rehearsed).into_iter().map(|(_reference, kind)| kind).collect();
    assert_eq!(kinds, ["different amount", "only ours"]);
    let said = env.types(&[&["reconcile", "BPC", &file], &period[..], &WHY].concat(), "").stdout;
    let in_zone = |moment: &Value| {
        let moment = moment.as_str().unwrap();
        let local =
            "SELECT to_char(timestamptz '{}' AT TIME ZONE 'Africa/Gaborone', 'YYYY-MM-DD HH24:MI:SS')";
        env.sql(&local.replace("{}", moment))
    };
    let judged = format!(
        "Our purchases from {} to {} were judged.",
        in_zone(&rehearsed["judged_from"]),
        in_zone(&rehearsed["judged_until"])
    );
    assert!(
        said.contains(&judged) && said.ends_with("Times are local: Africa/Gaborone.\n"),
        "{judged}: {said}"
    );
    assert_eq!(rehearsed["reconciliation"], Value::Null);
    assert_eq!(rehearsed["discrepancies"][1]["ours"]["purchase"].to_string(), other);
    assert_eq!(
        env.sql("SELECT (SELECT count(*) FROM reconciliations) + (SELECT count(*) FROM discrepancies)"),
        "0"
    );
    assert_eq!(found(&rehearsed), found(&env.reconciles(&file, &from, &until)));
    assert_eq!(env.sql("SELECT count(*) FROM discrepancies WHERE meter IS NOT NULL"), "0", "a phone number");
}

#[test]
fn a_vend_at_midnight_is_missed_only_when_both_days_lack_it() {
    let (env, _wallet) = TestEnv::with_a_till();
    let midnight = ago(&env, "3 hours");
    let (before, after) = (ago(&env, "6 hours"), ago(&env, "1 hour"));
    // The first two were vended before our midnight. The provider's clock may put the second one on the next day.
    let yesterdays = env.sold("AIRTIME", "26771400001", "3 hours 10 seconds");
    let todays = env.sold("AIRTIME", "26771400002", "3 hours 10 seconds");
    let nobodys = env.sold("AIRTIME", "26771400003", "3 hours 10 seconds");
    let first_day = env.statement_of("first-day", &[env.listed(&yesterdays)]);
    let second_day = env.statement_of("second-day", &[env.listed(&todays)]);

    let first = env.reconciles(&first_day, &before, &midnight);
    assert_eq!((found(&first), left_out(&first)), (vec![], (0, 2)), "those near the midnight are counted");
    assert!(first["judged_until"].as_str().unwrap() < midnight.as_str(), "{first}");
    let second = env.reconciles(&second_day, &midnight, &after);
    assert_eq!(left_out(&second), (0, 0), "both days are there, so nothing is left out");
    assert!(second["judged_from"].as_str().unwrap() < midnight.as_str(), "{second}");
    let kinds: Vec<&Value> =
        second["discrepancies"].as_array().unwrap().iter().map(|one| &one["ours"]["purchase"]).collect();
    assert_eq!(kinds, [&json!(nobodys.parse::<i64>().unwrap())]);
    // The whole day in one statement lacks none of them that it lists.
    let both =
        env.statement_of("both", &[env.listed(&yesterdays), env.listed(&todays), env.listed(&nobodys)]);
    assert_eq!(found(&env.reconciles(&both, &before, &after)), []);
    // A statement of a part of a day cannot lack what the whole day has.
    let hour = env.statement_of("hour", &[env.listed(&yesterdays)]);
    assert_eq!(found(&env.reconciles(&hour, &ago(&env, "4 hours"), &midnight)), []);
}

#[test]
fn a_vend_that_only_a_person_has_entered_is_told_apart() {
    let (env, _wallet) = TestEnv::with_a_till();
    let invented = env.inserts_purchase_in_review("ELECTRICITY", "04257670465");
    let other = env.sold("AIRTIME", "26771400002", "30 minutes");
    let vended = ["--as", "vended", "--provider-transaction", "R-1", "--units", "45.2 kWh", "--token-stdin"];
    let resolved = env.confirms_vend(&[&[invented.as_str()], &vended[..]].concat(), TOKEN);
    assert_eq!(resolved.code, 0, "{}", resolved.stderr);
    let file = env.statement_of("invented", &[env.listed(&other)]);
    let (from, until) = (ago(&env, "2 hours"), ago(&env, "0 seconds"));
    let outcome = env.reconciles_with_the_key(&file, &from, &until);
    let reconciled: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let one = &reconciled["discrepancies"][0];
    assert_eq!(
        (&one["finding"], &one["by_a_person"], one["ours"]["purchase"].to_string()),
        (&json!("only ours"), &json!(true), invented)
    );
    assert_eq!(counts(&reconciled), [1, 1, 0, 0, 0, 1]);
}

#[test]
fn a_token_is_compared_by_its_digest_and_is_never_shown() {
    let (env, _wallet) = TestEnv::with_a_till();
    let purchase = env.inserts_purchase_in_review("ELECTRICITY", "04257670465");
    let vended = ["--as", "vended", "--provider-transaction", "R-1", "--units", "45.2 kWh", "--token-stdin"];
    let resolved = env.confirms_vend(&[&[purchase.as_str()], &vended[..]].concat(), TOKEN);
    assert_eq!(resolved.code, 0, "{}", resolved.stderr);
    let (from, until) = (ago(&env, "2 hours"), ago(&env, "0 seconds"));
    let plain = TOKEN.replace(' ', "");
    for (token, expected) in [(plain.clone(), None), (plain.replace('7', "1"), Some("different token"))] {
        let file = env.statement_of("token", &[env.listed(&purchase) + &token]);
        let outcome = env.reconciles_with_the_key(&file, &from, &until);
        assert!(
            !outcome.stdout.contains(&token) && outcome.code == if expected.is_some() { 4 } else { 0 },
            "{} {}",
            outcome.stdout,
            outcome.stderr
        );
        let reconciled: Value = serde_json::from_str(&outcome.stdout).unwrap();
        let kinds: Vec<String> = found(&reconciled).into_iter().map(|(_reference, kind)| kind).collect();
        assert_eq!(kinds, expected.into_iter().collect::<Vec<_>>());
        let blind = env.types(
            &[&["reconcile", "BPC", &file, "--from", &from, "--until", &until, "--dry-run"], &WHY[..]]
                .concat(),
            "",
        );
        assert!(blind.stdout.contains("Tokens were not compared"), "{}", blind.stdout);
    }
    assert_eq!(env.sql("SELECT count(*) FROM discrepancies d WHERE d::text LIKE '%0808%'"), "0");

    // The person who vouched for the vend cannot close what speaks against it.
    let close = ["discrepancies", "close", "1"];
    let own = env.is_refused(&close);
    assert!(own.starts_with("you decided this purchase, or asked for that decision"), "{own}");
    let env = env.with_people();
    let rehearsed = env.types_as("thabo", &[&close[..], &["--dry-run"]].concat(), true);
    assert_eq!((rehearsed.code, env.sql("SELECT count(*) FROM discrepancy_decisions").as_str()), (0, "0"));
    assert_eq!(env.types_as("thabo", &close, true).code, 0);
    assert_eq!(env.sql("SELECT actor FROM discrepancy_decisions"), "thabo");
}

#[test]
fn a_discrepancy_is_closed_once_by_a_person_or_by_its_unmatched_vend() {
    let (env, wallet) = TestEnv::with_a_till();
    let sold = env.sold("AIRTIME", "26771400001", "3 hours");
    let late = ago(&env, "3 hours");
    let invented = format!("20261124032043-000900,R-900,{late},AIRTIME,26771400009,20.00,BWP,");
    let file = env.statement_of("closed", &[env.listed(&sold).replace("100.00", "90.00"), invented]);
    let (from, until) = (ago(&env, "4 hours"), ago(&env, "1 hour"));
    env.reconciles(&file, &from, &until);
    let of_kind = |kind: &str| env.sql(&format!("SELECT id FROM discrepancies WHERE kind = '{kind}'"));
    let (different, theirs) = (of_kind("DIFFERENT"), of_kind("ONLY_THEIRS"));
    assert_eq!(env.shows(&["discrepancies", "list"]).as_array().unwrap().len(), 2);

    let absent = env.is_refused(&["discrepancies", "close", &different, "99"]);
    assert!(absent.starts_with("there is no discrepancy 99; nothing was closed"), "{absent}");
    let rehearsal = ["discrepancies", "close", &different, "--dry-run", "--reason", "x"];
    let rehearsed = env.shows(&rehearsal);
    let numbers: Vec<String> =
        rehearsed.as_array().unwrap().iter().map(|one| one["id"].to_string()).collect();
    assert_eq!(numbers, std::slice::from_ref(&different), "those that would be closed, and no other");
    let said = env.types(&rehearsal, "").stdout;
    assert!(
        said.ends_with(
            "Nothing was closed. Above are those that would be.\n\nTimes are local: Africa/Gaborone.\n"
        ),
        "{said}"
    );
    let left = env.does(&["discrepancies", "close", &different]);
    assert_eq!((left.as_array().unwrap().len(), left[0]["id"].to_string()), (1, theirs));
    let again = env.is_refused(&["discrepancies", "close", &different]);
    assert!(again.starts_with(&format!("test_operator decided discrepancy {different} before")), "{again}");

    env.does(&["recover", "enter", &file, "--provider", "BPC"]);
    assert_eq!(env.shows(&["discrepancies", "list"])[0]["unmatched_vend"], json!(1));
    env.does(&["recover", "charge", "1", "--account", &wallet]);
    assert_eq!(env.shows(&["discrepancies", "list"]), json!([]));
    let all = env.shows(&["reconciliations", "show", "1"]);
    assert!(
        all["discrepancies"]
            .as_array()
            .unwrap()
            .iter()
            .all(|one| one["decided_by"] == json!("test_operator"))
    );
    assert_eq!(env.sql("SELECT count(*) FROM audit_log WHERE action = 'discrepancy.closed'"), "1");
    let about_kgale = env.shows(&["audit", "list", "-o", "KGALE"]);
    assert!(
        about_kgale.as_array().unwrap().iter().any(|line| line["action"] == "discrepancy.closed"),
        "its purchase is KGALE's: {about_kgale}"
    );
}

#[test]
fn a_statement_that_cannot_be_right_is_refused_before_anything_is_kept() {
    let (env, _wallet) = TestEnv::with_a_till();
    let sold = env.sold("AIRTIME", "26771400001", "3 hours");
    let file = env.statement_of("refused", &[env.listed(&sold)]);
    let (from, until) = (ago(&env, "4 hours"), ago(&env, "1 hour"));
    let with = |provider: &str, file: &str, from: &str, until: &str| {
        env.is_refused(&["reconcile", provider, file, "--from", from, "--until", until])
    };
    let unknown = with("BPCC", &file, &from, &until);
    assert!(unknown.starts_with("there is no provider BPCC"), "{unknown}");
    let early = with("BPC", &file, &from, "2100-01-01T00:00:00Z");
    assert!(early.starts_with("the period ends only at 2100-01-01 02:00:00 (Africa/Gaborone)"), "{early}");
    let outside = with("BPC", &file, &ago(&env, "2 hours"), &until);
    assert!(outside.contains("are outside the period and its --tolerance"), "{outside}");
    let reversed = with("BPC", &file, &until, &from);
    assert!(reversed.starts_with("a period is a --date"), "{reversed}");
    let half = env.statement_of("half", &[env.listed(&sold), "A,B".to_owned()]);
    let cut_off = with("BPC", &half, &from, &until);
    assert_eq!(cut_off, "line 3 of the statement has not as many columns as its first line");
    let unnamed =
        env.is_refused(&["reconcile", "BPC", &file, "--date", "2026-11-20", "--column", "amount=Amount"]);
    assert!(unnamed.starts_with("the statement has no column Amount"), "{unnamed}");
    assert_eq!(env.sql("SELECT count(*) FROM reconciliations"), "0");
}

#[test]
fn a_statement_without_a_line_is_right_only_if_the_books_have_nothing_or_a_person_says_so() {
    let (env, _wallet) = TestEnv::with_a_till();
    env.sold("AIRTIME", "26771400001", "3 hours");
    let file = env.statement_of("empty", &[]);
    let (before, from) = (ago(&env, "6 hours"), ago(&env, "5 hours"));
    let refused = "the statement lists no vend, and our books have 1 in its period or at its edges";
    // The last one ends so shortly after the sale that no statement of it need have it.
    for until in ["1 hour", "178 minutes"].map(|age| ago(&env, age)) {
        let told = env.is_refused(&["reconcile", "BPC", &file, "--from", &from, "--until", &until]);
        assert!(told.starts_with(refused), "{until}: {told}");
    }
    assert_eq!(env.sql("SELECT count(*) FROM reconciliations"), "0");
    let (short, end) = (ago(&env, "182 minutes"), ago(&env, "178 minutes"));
    let words = ["reconcile", "BPC", &file, "--from", &short, "--until", &end, "--empty", "--dry-run"];
    let said = env.types(&[&words[..], &WHY].concat(), "").stdout;
    assert!(
        said.contains("None of our purchases was judged, because the period is not longer than"),
        "{said}"
    );
    let quiet = env.does(&["reconcile", "BPC", &file, "--from", &before, "--until", &from]);
    assert_eq!((&quiet["lines"], &quiet["only_ours"]), (&json!(0), &json!(0)), "{quiet}");
    let until = ago(&env, "1 hour");
    let words = ["reconcile", "BPC", &file, "--from", &from, "--until", &until, "--empty"];
    let told = env.does(&words);
    assert_eq!((&told["only_ours"], &told["discrepancies"][0]["finding"]), (&json!(1), &json!("only ours")));
}

#[test]
fn a_run_is_kept_with_who_ran_it_and_never_changes() {
    let (env, _wallet) = TestEnv::with_a_till();
    let sold = env.sold("AIRTIME", "26771400001", "3 hours");
    let file = env.statement_of("kept", &[env.listed(&sold)]);
    env.reconciles(&file, &ago(&env, "4 hours"), &ago(&env, "1 hour"));
    let runs = env.shows(&["reconciliations", "list", "--provider", "BPC"]);
    let run = &runs[0];
    assert_eq!(
        (&run["by"], &run["login"], &run["reason"]),
        (&json!("test_operator"), &json!("test_operator"), &json!("contract 17"))
    );
    assert_eq!(run["sha256"].as_str().unwrap().len(), 64);
    for change in [
        "UPDATE reconciliations SET only_ours = 0",
        "DELETE FROM reconciliations",
        "DELETE FROM discrepancies",
    ] {
        assert!(env.database.run_sql(change).is_err(), "{change}");
    }
    let another = env.is_refused(&["discrepancies", "close", "1"]);
    assert!(another.contains("there is no discrepancy 1"), "{another}");
    let none = env.types(&["reconciliations", "show", "9"], "");
    assert!(none.stderr.contains("there is no reconciliation 9"), "{}", none.stderr);
}

#[test]
fn the_json_fields_of_a_reconciliation_have_stable_names() {
    let (env, _wallet) = TestEnv::with_a_till();
    let sold = env.sold("ELECTRICITY", "04257670465", "3 hours");
    let file = env.statement_of("shapes", &[env.listed(&sold).replace("100.00", "90.00")]);
    let reconciled = env.reconciles(&file, &ago(&env, "4 hours"), &ago(&env, "1 hour"));
    let counted = "reconciliation lines matched open only_theirs different only_ours";
    let edges = "judged_from judged_until left_out_at_begin left_out_at_end left_out_open open_purchases \
                 outside_period";
    assert_eq!(fields(&reconciled), sorted(&format!("{counted} {edges} discrepancies")));
    let one = "id finding differs by_a_person provider reference transaction line theirs ours unmatched_vend first_found_in \
               decided_at decided_by decided_because";
    assert_eq!(fields(&reconciled["discrepancies"]), sorted(one));
    assert_eq!(fields(&env.shows(&["discrepancies", "list"])), sorted(one));
    assert_eq!(fields(&reconciled["discrepancies"][0]["theirs"]), sorted("at product meter amount"));
    let ours = "purchase state at transaction product meter amount";
    assert_eq!(fields(&reconciled["discrepancies"][0]["ours"]), sorted(ours));
    let run = format!(
        "id provider file sha256 from until tolerance_s started_at finished_at by login reason {counted}"
    );
    assert_eq!(fields(&env.shows(&["reconciliations", "list"])), sorted(&run));
    assert_eq!(
        fields(&env.shows(&["reconciliations", "show", "1"])),
        sorted(&format!("{run} discrepancies"))
    );
}

#[test]
fn a_statement_of_another_provider_is_refused_before_anything_is_kept() {
    let (env, _wallet) = TestEnv::with_a_till();
    env.does(&["provider", "declare", "WUC", "--name", "Water"]);
    let purchase = env.sold("AIRTIME", "26771400001", "3 hours");
    let file = env.statement_of("of-another", &[env.listed(&purchase)]);
    let (from, until) = (ago(&env, "4 hours"), ago(&env, "1 hour"));
    let refused = env.is_refused(&["reconcile", "WUC", &file, "--from", &from, "--until", &until]);
    let said = format!(
        "is the order of purchase {purchase} at BPC, so this is no statement of WUC; nothing was done"
    );
    assert!(refused.contains(&said), "{refused}");
    assert_eq!(env.sql("SELECT count(*) FROM reconciliations"), "0");
}

#[test]
fn who_released_a_purchase_does_not_close_what_a_statement_says_against_it() {
    let (env, _wallet) = TestEnv::with_a_till();
    let open =
        OpenPurchase { state: "REVIEW", product: "ELECTRICITY", subscriber: "04257670461", age: "3 hours" };
    let purchase = env.inserts_purchase(&open);
    env.does(&["purchases", "resolve", &purchase, "--as", "not-vended"]);
    let file = env.statement_of("released", &[env.listed(&purchase)]);
    let found = env.reconciles(&file, &ago(&env, "4 hours"), &ago(&env, "1 hour"));
    let id = found["discrepancies"][0]["id"].to_string();
    let own = env.is_refused(&["discrepancies", "close", &id]);
    assert!(own.starts_with("you decided this purchase"), "{own}");
    env.does(&["recover", "enter", &file, "--provider", "BPC"]);
    let own = env.is_refused(&["incidents", "close", "1"]);
    assert!(own.starts_with("you decided this purchase"), "{own}");
    let env = env.with_people();
    for closed in [["discrepancies", "close", id.as_str()], ["incidents", "close", "1"]] {
        let outcome = env.types_as("thabo", &closed, true);
        assert_eq!(outcome.code, 0, "{closed:?}: {}", outcome.stderr);
    }
}

#[test]
fn a_reference_that_two_providers_were_sent_is_held_against_the_one_that_is_named() {
    let (env, _wallet) = TestEnv::with_a_till();
    env.does(&["provider", "declare", "WUC", "--name", "Water"]);
    let purchase = env.sold("AIRTIME", "26771400001", "3 hours");
    let other = env.sold("AIRTIME", "26771400002", "3 hours");
    let reference = env.sql(&format!("SELECT provider_reference FROM purchases WHERE id = {purchase}"));
    env.sql(&format!(
        "SET session_replication_role = replica;
         UPDATE attempts SET provider_code = 'WUC', provider_reference = '{reference}' WHERE purchase_id = {other};
         UPDATE purchases SET provider_code = 'WUC', provider_reference = '{reference}' WHERE id = {other}"
    ));
    let file = env.statement_of("shared", &[env.listed(&purchase)]);
    let found = env.reconciles(&file, &ago(&env, "4 hours"), &ago(&env, "1 hour"));
    assert_eq!(found["matched"], 1, "{found}");
    env.does(&["recover", "enter", &file, "--provider", "BPC", "--dry-run"]);
}
