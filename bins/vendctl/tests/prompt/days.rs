//! The close of a day: all accounts, a wallet's statement of a period, days as words, and an id that is used again.

use serde_json::{Value, json};

use crate::office::TestEnv;

/// The sums of a line of `report accounts`.
const SUMS: [&str; 8] =
    ["opening", "paid_in", "reversed", "sales", "corrected", "vends_without_wallet", "paid_out", "closing"];

fn sums(line: &Value) -> [i64; 8] {
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
    env.creates_organisation("PHAKA", "production");
    let real = env.opens_wallet("PHAKA");
    env.does(&["wallet", "top-up", &real, "70.00", "--currency", "BWP", "--id", "E"]);
    let mistaken = env.does(&["wallet", "top-up", &real, "700.00", "--currency", "BWP", "--id", "F"]);
    env.does(&["wallet", "reverse", &mistaken["entry"].to_string()]);
    env.does(&["wallet", "adjust", &wallet, "down", "20.00", "--currency", "BWP", "--id", "B"]);
    env.does(&["provider", "pay", "WUC", "150.00", "--currency", "BWP", "--id", "C"]);
    let fees = env.is_refused(&["fees", "settle", "1.00", "--currency", "BWP", "--id", "D"]);
    assert!(fees.starts_with("only BWP 0.00 of fees"), "the fee was earned by a test: {fees}");
    let report = env.reports("accounts");
    let lines = report.as_array().unwrap();
    let line = |account: &str, whose: &Value| {
        let found = lines.iter().find(|line| {
            line["account"] == account
                && [&line["organisation"], &line["provider"], &line["environment"]].contains(&whose)
        });
        sums(found.unwrap_or_else(|| panic!("{account} {whose}: {report}")))
    };
    // The first wallet in staging is loaded with a million.
    let wallets = [0, 100_050_000, 0, -10_150, -2_000, 0, 0, 100_037_850];
    assert_eq!(line("WALLETS", &json!("KGALE")), wallets);
    assert_eq!(line("WALLETS", &json!("PHAKA")), [0, 77_000, -70_000, 0, 0, 0, 0, 7_000]);
    let staging = [0, -100_050_000, 0, 0, 2_000, 0, 0, -100_048_000];
    assert_eq!(line("FUNDING", &json!("STAGING")), staging, "it is no real money");
    let real_money = [0, -77_000, 70_000, 0, 0, 0, 15_000, 8_000];
    assert_eq!(line("FUNDING", &json!("PRODUCTION")), real_money, "less what was paid out");
    assert_eq!(line("PROVIDER_PAYABLE", &json!("BPC")), [0, 0, 0, 10_000, 0, 0, 0, 10_000]);
    assert_eq!(line("PROVIDER_PAYABLE", &json!("WUC")), [0, 0, 0, 0, 0, 20_000, -15_000, 5_000]);
    assert_eq!(line("FEE_INCOME", &json!("STAGING")), [0, 0, 0, 150, 0, 0, 0, 150]);
    let totals: Vec<&Value> = lines.iter().filter(|line| line["is_total"] == json!(true)).collect();
    let of: Vec<_> = totals.iter().map(|total| (&total["account"], &total["environment"])).collect();
    assert_eq!(of, [(&json!("TOTAL"), &json!("PRODUCTION")), (&json!("TOTAL"), &json!("STAGING"))]);
    assert!(totals.iter().all(|total| sums(total) == [0; 8]), "{report}");
    for environment in ["PRODUCTION", "STAGING"] {
        let of_it = lines.iter().filter(|line| line["environment"] == environment);
        for (n, name) in SUMS.iter().enumerate() {
            assert_eq!(of_it.clone().map(|line| sums(line)[n]).sum::<i64>(), 0, "{name}: {report}");
        }
    }
    let in_the_database = "SELECT sum(posted) FROM accounts WHERE house IS NULL";
    assert_eq!(env.sql(in_the_database), "100044850");

    let tomorrow = env.sql("SELECT (now() AT TIME ZONE 'Africa/Gaborone')::date + 1");
    assert_eq!(env.shows(&["report", "accounts", "--date", &tomorrow]), json!([]), "it has not begun");
    let csv = env.types(&["report", "accounts", "--date", "yesterday", "--to", "today", "--csv"], "").stdout;
    let heading = "currency,account,environment,organisation,provider,opening,paid in,reversed,sales,corrected,vends without a wallet,paid out,closing,from,to,has ended";
    assert_eq!(csv.lines().next(), Some(heading));
    assert!(csv.contains("BWP,FUNDING,PRODUCTION,-,-,"), "{csv}");
    let zeros = ",0.00".repeat(8);
    let of = env.sql("SELECT concat(',', d - 1, ',', d, ',no') FROM (SELECT (now() AT TIME ZONE 'Africa/Gaborone')::date AS d) t");
    assert!(
        csv.ends_with(&format!("BWP,TOTAL,PRODUCTION,-,-{zeros}{of}\nBWP,TOTAL,STAGING,-,-{zeros}{of}\n")),
        "{csv}"
    );
}

#[test]
fn what_tests_have_sold_is_in_no_figure_of_production() {
    let (env, _wallet) = TestEnv::with_a_till();
    env.sells_airtime();
    let sold_in = |environment: &str| {
        env.sql(&format!(
            "SET session_replication_role = replica; UPDATE organisations SET environment = '{environment}'"
        ));
    };
    for environment in ["PRODUCTION", "STAGING"] {
        sold_in(environment);
        for report in ["sales", "commission", "fees", "payable"] {
            let shown = env.reports(report);
            let lines = shown.as_array().unwrap();
            assert!(lines.iter().all(|line| line["environment"] == environment), "{environment}: {shown}");
            assert!(!lines.is_empty() || report == "commission", "{report}: {shown}");
        }
    }
    env.sql("SET session_replication_role = replica; TRUNCATE trial_balances CASCADE; TRUNCATE cutoffs");
    // As if the sale had been made, and the wallets opened, two days ago: it is in the opening balances of yesterday.
    env.sql(
        "SET session_replication_role = replica;
         UPDATE accounts SET created_at = created_at - interval '50 hours';
         UPDATE journal_entries SET posted_at = posted_at - interval '50 hours'",
    );
    for (report, opening) in [("payable --by provider", 10_000), ("fees", 150)] {
        let balances = |shown: &Value| {
            let of = |line: &Value| {
                (
                    line["environment"].as_str().unwrap().to_owned(),
                    line["opening_hundredths"].as_i64().unwrap(),
                )
            };
            shown.as_array().unwrap().iter().map(of).collect::<Vec<_>>()
        };
        let words = format!("report {report} --date today");
        let shown = env.shows(&words.split(' ').collect::<Vec<_>>());
        assert_eq!(balances(&shown), [("STAGING".to_owned(), opening)], "{report}");
    }
}

#[test]
fn a_day_opens_with_what_the_day_before_has_closed_with_in_every_account() {
    let (env, wallet) = TestEnv::with_a_wallet();
    env.does(&["wallet", "top-up", &wallet, "5.00", "--currency", "BWP", "--id", "A"]);
    env.creates_organisation("PHAKA", "production");
    let real = env.opens_wallet("PHAKA");
    let paid = env.does(&["wallet", "top-up", &real, "3.00", "--currency", "BWP", "--id", "R"]);
    // As if it had been posted, and the wallet opened, two days ago.
    env.sql(
        "SET session_replication_role = replica;
         UPDATE accounts SET created_at = created_at - interval '50 hours';
         UPDATE journal_entries SET posted_at = posted_at - interval '50 hours'",
    );
    env.does(&["wallet", "top-up", &wallet, "7.00", "--currency", "BWP", "--id", "B"]);
    env.does(&["wallet", "reverse", &paid["entry"].to_string()]);
    let closing = |from: &str, to: &str, sum: usize| {
        let report = env.shows(&["report", "accounts", "--date", from, "--to", to]);
        let lines = report.as_array().unwrap();
        let of = |account: &str| {
            let lines = lines.iter().filter(|line| line["account"] == account);
            ["STAGING", "PRODUCTION"].map(|environment| {
                let mut lines = lines.clone().filter(|line| line["environment"] == environment);
                lines.next().map_or(0, |line| sums(line)[sum])
            })
        };
        (of("WALLETS"), of("FUNDING"))
    };
    let day = |back: u8| env.sql(&format!("SELECT (now() AT TIME ZONE 'Africa/Gaborone')::date - {back}"));
    assert_eq!(closing(&day(4), "yesterday", 7), ([100_000_500, 300], [-100_000_500, -300]));
    assert_eq!(closing("today", "today", 0), ([100_000_500, 300], [-100_000_500, -300]));
    assert_eq!(closing("today", "today", 1), ([700, 0], [-700, 0]));
    assert_eq!(closing("today", "today", 2), ([0, -300], [0, 300]), "undone on another day");
    assert_eq!(closing("today", "today", 7), ([100_001_200, 0], [-100_001_200, 0]));
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
    let heading = "entry,posted at,kind,amount,balance,currency,counterpart,purchase,reference,reverses entry,reversed by entry,reason";
    let line = format!("{a},2026-01-05T21:30:00Z,TOP_UP,5.00,1000005.00,BWP,FUNDING,-,A,-,-,contract 17");
    let [closing, opening] = [("CLOSING", "1000005.00"), ("OPENING", "1000000.00")]
        .map(|(kind, balance)| format!("-,-,{kind},,{balance},BWP,-,-,-,-,-,-"));
    assert_eq!(csv.lines().collect::<Vec<_>>(), [heading, &closing, &line, &opening]);
    for (filter, balance) in [
        ("--date|2026-01-03", "1000000.00"),
        ("--date|yesterday", "1000015.00"),
        ("--date|2025-12-31", "0.00"),
    ] {
        let words: Vec<&str> = filter.split('|').collect();
        let csv =
            env.types(&[&["wallet", "statement", &wallet, "--csv"], words.as_slice()].concat(), "").stdout;
        assert_eq!(csv.matches(&format!(",,{balance},BWP,")).count(), 2, "{filter}: {csv}");
    }
}

#[test]
fn a_reversal_names_what_it_undoes_and_balances_lead_from_entry_to_entry() {
    let (env, wallet) = TestEnv::with_a_till();
    env.sells_airtime();
    let paid =
        env.does(&["wallet", "top-up", &wallet, "5.00", "--currency", "BWP", "--id", "A"])["entry"].clone();
    let undo = env.does(&["wallet", "reverse", &paid.to_string()])["entry"].clone();
    let statement = env.shows(&["wallet", "statement", &wallet]);
    let lines = statement.as_array().unwrap();
    let names = |line: &Value| (line["entry"].clone(), line["reverses"].clone(), line["reversed_by"].clone());
    assert_eq!(names(&lines[0]), (undo.clone(), paid.clone(), json!(null)));
    assert_eq!(names(&lines[1]), (paid.clone(), json!(null), undo));
    let hundredths = |line: &Value, name: &str| {
        let text = line[name].as_str().unwrap().replace("BWP ", "").replace('.', "");
        text.parse::<i64>().unwrap()
    };
    let mut balance = 0;
    for line in lines.iter().rev() {
        balance += hundredths(line, "amount");
        assert_eq!(hundredths(line, "balance"), balance, "{statement}");
    }
    assert_eq!(env.sql(&format!("SELECT posted FROM accounts WHERE id = {wallet}")), balance.to_string());
    let page = env.shows(&["wallet", "statement", &wallet, "--before", &paid.to_string(), "--limit", "1"]);
    assert_eq!(page[0]["balance"], lines[2]["balance"], "a page begins in the middle");
    let text = env.types(&["wallet", "statement", &wallet], "").stdout;
    assert!(
        text.contains("REVERSES ENTRY") && text.contains("Before these entries the wallet had BWP 0.00"),
        "{text}"
    );
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

#[test]
fn a_report_says_of_which_days_it_is_and_whether_they_have_ended() {
    let (env, _) = TestEnv::with_a_till();
    env.sells_airtime();
    let today = env.sql("SELECT (now() AT TIME ZONE 'Africa/Gaborone')::date");
    let yesterday = env.sql("SELECT (now() AT TIME ZONE 'Africa/Gaborone')::date - 1");
    let days = ["report", "sales", "--date", &yesterday, "--to", &today];
    let lines = env.shows(&days);
    let line = &lines[0];
    assert_eq!(
        (&line["from"], &line["to"], &line["has_ended"]),
        (&json!(yesterday), &json!(today), &json!(false)),
        "{line}"
    );
    let table = env.types(&days, "").stdout;
    let said = format!(
        "The days from {yesterday} to {today} in Africa/Gaborone. A day has not ended, so its lines still grow."
    );
    assert!(table.contains(&said), "{table}");
    let csv = env.types(&[&days[..], &["--csv"]].concat(), "").stdout;
    assert!(csv.lines().next().unwrap().ends_with(",from,to,has ended"), "{csv}");
    assert!(csv.lines().nth(1).unwrap().ends_with(&format!(",{yesterday},{today},no")), "{csv}");
    let ended = env.types(&["report", "fees", "--date", "2020-05-01"], "").stdout;
    assert!(
        ended.contains("The day 2020-05-01 in Africa/Gaborone.") && !ended.contains("still grow"),
        "{ended}"
    );
}
