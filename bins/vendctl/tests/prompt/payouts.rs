//! What is paid out: to a provider, fees, commission. Each is posted once under its id, and the report of the day shows it.

use serde_json::{Value, json};

use crate::{
    office::TestEnv,
    shapes::{fields, sorted},
};

impl TestEnv {
    /// The provider WUC is owed BWP 200.00 for a vend that only its statement has.
    pub fn owes_wuc(&self) {
        self.does(&["provider", "declare", "WUC", "--name", "Water Utilities"]);
        self.sql(
            "INSERT INTO unmatched_vends (id, provider_code, provider_reference, provider_transaction, vended_at, product,
                 subscriber_identifier, currency, net)
             VALUES (nextval('unmatched_vend_ids'), 'WUC', 'U-1', 'R-1', now(), 'WATER', '04257670465', 'BWP', 20000)",
        );
    }

    /// A report of yesterday, today and tomorrow: midnight may pass meanwhile.
    pub fn reports(&self, report: &str) -> Value {
        let today = "SELECT (now() AT TIME ZONE 'Africa/Gaborone')::date";
        let (first, last) = (self.sql(&format!("{today} - 1")), self.sql(&format!("{today} + 1")));
        let arguments = format!("report {report} --date {first} --to {last}");
        self.shows(&arguments.split(' ').collect::<Vec<_>>())
    }
}

#[test]
fn a_payment_to_a_provider_is_posted_once_and_undone_once() {
    let (env, wallet) = TestEnv::with_a_wallet();
    env.owes_wuc();
    let pay = |amount: &'static str, id: &'static str| {
        ["provider", "pay", "WUC", amount, "--currency", "BWP", "--id", id]
    };
    let rehearsed = env.does(&[&pay("150.00", "BANK-1")[..], &["--dry-run"]].concat());
    assert_eq!((&rehearsed["entry"], &rehearsed["left"]), (&json!(null), &json!("BWP 50.00")));
    let paid = env.does(&pay("150.00", "BANK-1"));
    assert_eq!((&paid["posted_before"], &paid["left"]), (&json!(false), &json!("BWP 50.00")));
    let again = env.does(&pay("150.00", "BANK-1"));
    assert_eq!((&again["posted_before"], &again["entry"]), (&json!(true), &paid["entry"]));
    assert_eq!(env.sql("SELECT count(*) FROM payouts"), "1");
    assert_eq!(
        fields(&paid),
        sorted("entry provider reference reverses amount posted_at posted_before left")
    );

    let entry = paid["entry"].to_string();
    let taken =
        format!("the reference BANK-1 belongs to another payment, journal entry {entry}; nothing was posted");
    assert_eq!(env.is_refused(&pay("150.01", "BANK-1")), taken);
    let top_up = ["wallet", "top-up", &wallet, "150.00", "--currency", "BWP", "--id", "BANK-1"];
    assert_eq!(env.is_refused(&top_up), taken);
    let fees = ["fees", "settle", "150.00", "--currency", "BWP", "--id", "BANK-1"];
    assert_eq!(env.is_refused(&fees), taken);

    assert!(env.is_refused(&["wallet", "reverse", &entry]).contains("is no payment or correction"));
    let undone = env.does(&["provider", "reverse-payment", &entry]);
    assert_eq!((&undone["reverses"], &undone["left"]), (&paid["entry"], &json!("BWP 200.00")));
    let again = env.is_refused(&["provider", "reverse-payment", &entry]);
    assert!(
        again.starts_with(&format!("entry {entry} was reversed before, by entry {}; ", undone["entry"])),
        "{again}"
    );
    let undo = undone["entry"].to_string();
    assert!(env.is_refused(&["provider", "reverse-payment", &undo]).contains("no payment or correction"));
    for entry in [&entry, &undo] {
        let by_hand = format!("SELECT reverse_payout({entry}, 'naledi', 'again')");
        assert!(env.database.run_sql(&by_hand).is_err(), "the database refuses {entry} by itself");
    }
    let logged = "SELECT string_agg(action || ' ' || (details ->> 'amount'), ', ' ORDER BY id) FROM audit_log
                  WHERE subject = 'provider:WUC' AND details ? 'entry'";
    assert_eq!(env.sql(logged), "provider.paid_out BWP 150.00, provider.payout_reversed BWP -150.00");

    let ceiling = [("VENDGATE__OPERATOR__AMOUNT_MAX", "149.99")];
    let refused = env.types_with(&ceiling, &[&pay("150.00", "BANK-2")[..], &["--reason", "x"]].concat(), "");
    assert!(
        refused.stderr.contains("the greatest amount of one act; nothing was posted."),
        "{}",
        refused.stderr
    );
    let unknown = env.is_refused(&["provider", "pay", "NOPE", "1.00", "--currency", "BWP", "--id", "BANK-3"]);
    assert!(unknown.starts_with("there is no provider NOPE; "), "{unknown}");
    let foreign = env.is_refused(&["provider", "pay", "WUC", "1.00", "--currency", "ZAR", "--id", "BANK-3"]);
    assert_eq!(foreign, "there is no wallet in ZAR, so nothing can be owed in it; nothing was posted");
}

#[test]
fn the_report_of_what_a_provider_is_owed_leads_from_its_opening_to_its_closing() {
    let (env, _wallet) = TestEnv::with_a_wallet();
    env.owes_wuc();
    env.does(&["provider", "pay", "WUC", "250.00", "--currency", "BWP", "--id", "BANK-1"]);
    let report = env.reports("payable");
    assert_eq!(report.as_array().unwrap().len(), 1, "{report}");
    let line = &report[0];
    let sums = ["opening", "sales", "late_vends", "unmatched_vends", "paid", "closing"];
    let amounts = sums.map(|sum| line[format!("{sum}_hundredths")].as_i64().unwrap());
    assert_eq!((&line["provider"], amounts), (&json!("WUC"), [0, 0, 0, 20_000, 25_000, -5_000]));
    let days = env.reports("payable --by provider,day");
    assert_eq!(days.as_array().unwrap().last().unwrap()["closing_hundredths"], -5_000);
    let by_product = env.reports("payable --by product");
    assert_eq!(
        (
            &by_product[0]["product"],
            &by_product[0]["unmatched_vends_hundredths"],
            &by_product[0]["closing_hundredths"]
        ),
        (&json!("WATER"), &json!(20_000), &json!(null))
    );
    let days =
        env.sql("SELECT d - 1, d + 1 FROM (SELECT (now() AT TIME ZONE 'Africa/Gaborone')::date AS d) t");
    let (first, last) = days.split_once('|').unwrap();
    let csv = env.types(&["report", "payable", "--date", first, "--to", last, "--csv"], "");
    let lines = format!(
        "day,organisation,provider,product,environment,currency,count,opening,sales,late vends,unmatched vends,paid,closing,from,to,has \
         ended\n-,-,WUC,-,PRODUCTION,BWP,0,0.00,0.00,0.00,200.00,250.00,-50.00,{first},{last},no\n"
    );
    assert_eq!(csv.stdout, lines);
    let future = env.shows(&["report", "payable", "--date", "2999-01-01"]);
    assert_eq!(future, json!([]), "a day that has not begun has no lines");
}

#[test]
fn commission_is_paid_out_and_not_topped_up() {
    let (env, wallet) = TestEnv::with_a_wallet();
    let commission = env.sql("SELECT id FROM accounts WHERE category = 'COMMISSION'");
    let top_up = ["wallet", "top-up", &commission, "1.00", "--currency", "BWP", "--id", "A"];
    assert_eq!(
        env.is_refused(&top_up),
        format!(
            "wallet {commission} collects commission and is not topped up; `vendctl commission pay` pays out of it; nothing was \
             posted"
        )
    );
    env.does(&["wallet", "adjust", &commission, "up", "30.00", "--currency", "BWP", "--id", "B"]);
    let pay = |account: &str, amount: &str, id: &str| {
        ["commission", "pay", account, amount, "--currency", "BWP", "--id", id].map(str::to_owned)
    };
    let refused = |command: [String; 8]| env.is_refused(&command.each_ref().map(String::as_str));
    let does = |command: [String; 8]| env.does(&command.each_ref().map(String::as_str));
    assert!(
        refused(pay(&wallet, "1.00", "C")).starts_with(&format!("wallet {wallet} collects no commission; "))
    );
    let beyond = refused(pay(&commission, "30.01", "C"));
    assert!(beyond.starts_with("only BWP 30.00 can be taken out of wallet"), "{beyond}");
    let paid = does(pay(&commission, "20.00", "C"));
    assert_eq!((&paid["posted_before"], &paid["available"]), (&json!(false), &json!("BWP 10.00")));
    assert_eq!(does(pay(&commission, "20.00", "C"))["posted_before"], true);
    let down = ["wallet", "adjust", &commission, "down", "20.00", "--currency", "BWP", "--id", "C"];
    assert!(env.is_refused(&down).starts_with("the reference C belongs to another payment"));
    let mistaken = does(pay(&commission, "5.00", "D"))["entry"].to_string();
    assert_eq!(env.does(&["wallet", "reverse", &mistaken])["available"], "BWP 10.00");

    let report = env.reports("commission");
    assert_eq!(report.as_array().unwrap().len(), 1, "{report}");
    let line = &report[0];
    let amounts = ["opening", "earned", "corrected", "paid", "closing"]
        .map(|sum| line[format!("{sum}_hundredths")].as_i64().unwrap());
    assert_eq!((&line["organisation"], amounts), (&json!("KGALE"), [0, 0, 3_000, 2_000, 1_000]));
}

#[test]
fn fees_are_taken_out_up_to_what_was_earned_with_real_money() {
    let (env, _wallet) = TestEnv::with_a_till();
    let purchase = env.inserts_purchase_in_review("AIRTIME", "26771234567");
    let vended = env.confirms_vend(&[&purchase, "--as", "vended", "--provider-transaction", "R-1"], "");
    assert_eq!(vended.code, 0, "{}", vended.stderr);
    let settle =
        |amount: &'static str, id: &'static str| ["fees", "settle", amount, "--currency", "BWP", "--id", id];
    let only = |there: &str| {
        format!(
            "only BWP {there} of fees is there to be taken out; what organisations in staging pay is not real; nothing was posted"
        )
    };
    assert_eq!(env.is_refused(&settle("1.00", "A")), only("0.00"), "a test has earned it");
    env.sql("UPDATE organisations SET environment = 'PRODUCTION'");
    assert_eq!(env.is_refused(&settle("1.51", "A")), only("1.50"));
    assert_eq!(env.does(&settle("1.00", "A"))["left"], "BWP 0.50");
    let entry = env.does(&settle("0.50", "B"))["entry"].to_string();
    assert_eq!(env.does(&["fees", "reverse", &entry])["left"], "BWP 0.50");
    let report = env.reports("fees");
    let sums = |line: &Value| {
        ["opening", "earned", "paid", "closing"]
            .map(|sum| line[format!("{sum}_hundredths")].as_i64().unwrap())
    };
    let of =
        |n: usize| (report[n]["environment"].as_str().unwrap(), report[n]["count"].clone(), sums(&report[n]));
    assert_eq!(of(0), ("PRODUCTION", json!(1), [0, 150, 100, 50]));
    let payable = env.reports("payable");
    assert_eq!((&payable[0]["provider"], &payable[0]["sales_hundredths"]), (&json!("BPC"), &json!(10_000)));
}
