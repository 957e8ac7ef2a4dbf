//! The close of a day: all accounts, a wallet's statement of a period, days as words, and an id that is used again.

use serde_json::{Value, json};

use crate::office::TestEnv;

/// The sums of a line of `report accounts`.
const SUMS: [&str; 7] =
    ["opening", "paid_in", "sales", "corrected", "vends_without_wallet", "paid_out", "closing"];

fn sums(line: &Value) -> [i64; 7] {
    SUMS.map(|sum| line[format!("{sum}_hundredths")].as_i64().unwrap())
}

fn entries(statement: &Value) -> Vec<i64> {
    statement.as_array().unwrap().iter().map(|line| line["entry"].as_i64().unwrap()).collect()
}

#[test]
fn the_day_closes_against_the_bank_and_every_column_adds_up_to_nothing() {
    let (env, wallet) = TestEnv::with_a_till();
    env.owes_wuc();
    env.sells_airtime();
    env.does(&["wallet", "top-up", &wallet, "500.00", "--currency", "BWP", "--id", "A"]);
    env.does(&["wallet", "adjust", &wallet, "down", "20.00", "--currency", "BWP", "--id", "B"]);
    env.does(&["provider", "pay", "WUC", "150.00", "--currency", "BWP", "--id", "C"]);
    env.does(&["fees", "settle", "1.00", "--currency", "BWP", "--id", "D"]);
    let report = env.reports("accounts");
    let lines = report.as_array().unwrap();
    let line = |account: &str, whose: &Value| {
        let found = lines.iter().find(|line| {
            line["account"] == account && (&line["organisation"] == whose || &line["provider"] == whose)
        });
        sums(found.unwrap_or_else(|| panic!("{account} {whose}: {report}")))
    };
    // The first wallet in staging is loaded with a million.
    let wallets = [0, 100_050_000, -10_150, -2_000, 0, 0, 100_037_850];
    assert_eq!(line("WALLETS", &json!("KGALE")), wallets);
    let funding = [0, -100_050_000, 0, 2_000, 0, 15_100, -100_032_900];
    assert_eq!(line("FUNDING", &Value::Null), funding, "less what was paid out");
    assert_eq!(line("PROVIDER_PAYABLE", &json!("BPC")), [0, 0, 10_000, 0, 0, 0, 10_000]);
    assert_eq!(line("PROVIDER_PAYABLE", &json!("WUC")), [0, 0, 0, 0, 20_000, -15_000, 5_000]);
    assert_eq!(line("FEE_INCOME", &Value::Null), [0, 0, 150, 0, 0, -100, 50]);
    for (n, name) in SUMS.iter().enumerate() {
        assert_eq!(lines.iter().map(|line| sums(line)[n]).sum::<i64>(), 0, "{name}: {report}");
    }
    let in_the_database = "SELECT sum(posted) FROM accounts WHERE house IS NULL";
    assert_eq!(env.sql(in_the_database), "100037850");

    let tomorrow = env.sql("SELECT (now() AT TIME ZONE 'Africa/Gaborone')::date + 1");
    assert_eq!(env.shows(&["report", "accounts", "--date", &tomorrow]), json!([]), "it has not begun");
    let csv = env.types(&["report", "accounts", "--date", "yesterday", "--to", "today", "--csv"], "").stdout;
    let heading = "currency,account,organisation,provider,opening,paid in,sales,corrected,vends without a wallet,paid out,closing";
    assert_eq!(csv.lines().next(), Some(heading));
    assert!(csv.contains("BWP,FUNDING,-,-,"), "{csv}");
}

#[test]
fn a_day_opens_with_what_the_day_before_has_closed_with_in_every_account() {
    let (env, wallet) = TestEnv::with_a_wallet();
    env.does(&["wallet", "top-up", &wallet, "5.00", "--currency", "BWP", "--id", "A"]);
    // As if it had been posted, and the wallet opened, two days ago.
    env.sql(
        "SET session_replication_role = replica;
         UPDATE accounts SET created_at = created_at - interval '50 hours';
         UPDATE journal_entries SET posted_at = posted_at - interval '50 hours'",
    );
    env.does(&["wallet", "top-up", &wallet, "7.00", "--currency", "BWP", "--id", "B"]);
    let closing = |from: &str, to: &str, sum: usize| {
        let report = env.shows(&["report", "accounts", "--date", from, "--to", to]);
        let lines = report.as_array().unwrap();
        let of = |account: &str| {
            lines.iter().find(|line| line["account"] == account).map_or(0, |line| sums(line)[sum])
        };
        (of("WALLETS"), of("FUNDING"))
    };
    let day = |back: u8| env.sql(&format!("SELECT (now() AT TIME ZONE 'Africa/Gaborone')::date - {back}"));
    assert_eq!(closing(&day(4), "yesterday", 6), (100_000_500, -100_000_500));
    assert_eq!(closing("today", "today", 0), (100_000_500, -100_000_500));
    assert_eq!(closing("today", "today", 6), (100_001_200, -100_001_200));
}

#[test]
fn a_wallets_statement_is_of_a_day_or_between_two_moments_and_may_be_csv() {
    let (env, wallet) = TestEnv::with_a_wallet();
    for id in ["A", "B", "C"] {
        env.does(&["wallet", "top-up", &wallet, "5.00", "--currency", "BWP", "--id", id]);
    }
    env.sql(
        "SET session_replication_role = replica;
         UPDATE journal_entries SET posted_at = CASE reference WHEN 'A' THEN timestamptz '2026-01-05 23:30+02'
             WHEN 'B' THEN '2026-01-06 00:30+02' WHEN 'C' THEN '2026-01-06 14:00+02' ELSE '2026-01-01' END",
    );
    let numbers = env.sql("SELECT id FROM journal_entries WHERE reference IS NOT NULL ORDER BY id");
    let [a, b, c] = numbers.lines().map(|id| id.parse::<i64>().unwrap()).collect::<Vec<_>>()[..] else {
        panic!("{numbers}")
    };
    let statement = |filter: &str| {
        let words: Vec<&str> = filter.split('|').collect();
        entries(&env.shows(&[&["wallet", "statement", &wallet], words.as_slice()].concat()))
    };
    let asks = || {
        assert_eq!(statement("--date|2026-01-06"), [c, b]);
        assert_eq!(statement("--date|2026-01-05"), [a]);
        assert_eq!(statement("--since|2026-01-06 00:30"), [c, b]);
        assert_eq!(statement("--until|2026-01-06 14:00|--since|2026-01-05"), [b, a]);
        assert_eq!(statement("--until|2026-01-06 14:00|--limit|1"), [b]);
        assert_eq!(statement("--until|2026-01-07|--all").len(), 4);
        assert_eq!(statement(&format!("--date|2026-01-06|--before|{c}")), [b]);
        assert_eq!(statement("--date|yesterday"), Vec::<i64>::new());
    };
    asks();
    // A cut-off, which the worker makes each day, changes only how far it reads.
    env.sql(&format!("SELECT cut_off({wallet}, timestamptz '2026-01-06 00:00+02', 10000)"));
    asks();
    let csv = env.types(&["wallet", "statement", &wallet, "--date", "2026-01-05", "--csv"], "").stdout;
    let heading = "entry,posted at,kind,amount,counterpart,purchase,reference,reason";
    let line = format!("{a},2026-01-05T21:30:00Z,TOP_UP,BWP 5.00,FUNDING,-,A,contract 17");
    assert_eq!(csv.lines().collect::<Vec<_>>(), [heading, &line]);
}

#[test]
fn an_id_whose_payment_was_reversed_is_used_once_more_and_only_on_purpose() {
    let (env, wallet) = TestEnv::with_a_wallet();
    env.owes_wuc();
    let top_up = |amount: &'static str| {
        ["wallet", "top-up", &wallet, amount, "--currency", "BWP", "--id", "BANK-1"].map(str::to_owned)
    };
    let pay = |amount: &'static str| {
        ["provider", "pay", "WUC", amount, "--currency", "BWP", "--id", "BANK-2"].map(str::to_owned)
    };
    for (wrong, right, undo) in [
        (top_up("50.00"), top_up("5.00"), "wallet reverse"),
        (pay("20.00"), pay("2.00"), "provider reverse-payment"),
    ] {
        let does = |words: &[String], further: &[&str]| {
            let words: Vec<&str> = words.iter().map(String::as_str).chain(further.iter().copied()).collect();
            env.does(&words)
        };
        let refused = |words: &[String], further: &[&str]| {
            let words: Vec<&str> = words.iter().map(String::as_str).chain(further.iter().copied()).collect();
            env.is_refused(&words)
        };
        assert!(refused(&wrong, &["--again"]).contains("nothing was posted under BANK-"));
        let entry = does(&wrong, &[])["entry"].to_string();
        let not_reversed = format!("entry {entry} has this id, and was not reversed; nothing was posted");
        assert!(refused(&right, &["--again"]).starts_with(&not_reversed));
        let reverse: Vec<&str> = undo.split(' ').chain([entry.as_str()]).collect();
        let by = env.does(&reverse)["entry"].to_string();
        let reversed =
            format!("entry {entry}, was reversed by entry {by}; nothing was posted. --again posts");
        assert!(refused(&right, &[]).contains(&reversed));
        assert_eq!(does(&wrong, &[])["posted_before"], true, "a script that repeats itself posts nothing");
        let again = does(&right, &["--again"]);
        let id = right.last().unwrap();
        assert_eq!(
            (&again["posted_before"], &again["reference"]),
            (&json!(false), &json!(format!("{id}(2)")))
        );
        assert_eq!(does(&right, &["--again"])["entry"], again["entry"], "once");
        let reverse: Vec<String> =
            undo.split(' ').map(str::to_owned).chain([again["entry"].to_string()]).collect();
        env.does(&reverse.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(does(&right, &["--again"])["posted_before"], true, "not a third time");
    }
}
