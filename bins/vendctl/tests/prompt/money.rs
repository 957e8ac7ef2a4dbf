//! Wallets: opening, payments and corrections. No balance falls below what is held, and no payment is posted twice.

use serde_json::json;

use crate::office::TestEnv;

impl TestEnv {
    fn tops_up(&self, wallet: &str, amount: &str, id: &str) -> serde_json::Value {
        self.does(&["wallet", "top-up", wallet, amount, "--currency", "BWP", "--id", id])
    }

    fn balances(&self, wallet: &str) -> String {
        self.sql(&format!("SELECT posted, held FROM accounts WHERE id = {wallet}"))
    }

    /// Checks that the balance of every wallet is the sum of its postings.
    fn balances_add_up(&self) {
        let broken = "SELECT id FROM accounts a WHERE house IS NULL AND posted <>
            (SELECT coalesce(sum(amount), 0) FROM postings WHERE credit_account_id = a.id) -
            (SELECT coalesce(sum(amount), 0) FROM postings WHERE debit_account_id = a.id)";
        assert_eq!(self.sql(broken), "");
    }
}

#[test]
fn the_first_wallet_in_staging_is_loaded_through_the_ledger_and_no_other_is() {
    let (env, first) = TestEnv::with_a_wallet();
    assert_eq!(env.balances(&first), "100000000|0");
    let second = env.opens_wallet("KGALE");
    assert_eq!(env.balances(&second), "0|0");
    env.creates_organisation("PHAKA", "production");
    let real = env.opens_wallet("PHAKA");
    assert_eq!(env.balances(&real), "0|0");

    let entries = "SELECT kind, reason, amount FROM journal_entries JOIN postings ON entry_id = id";
    assert_eq!(env.sql(entries), "TOP_UP|contract 17|100000000");
    env.balances_add_up();
}

#[test]
fn a_payment_is_posted_once_however_often_it_is_entered() {
    let (env, wallet) = TestEnv::with_a_wallet();
    let paid = env.tops_up(&wallet, "500.00", "FNB-1");
    assert_eq!(paid["posted_before"], false);
    assert_eq!(paid["available"], "BWP 1000500.00");

    let again = env.tops_up(&wallet, "500.00", "FNB-1");
    assert_eq!((&again["posted_before"], &again["entry"]), (&json!(true), &paid["entry"]));
    assert_eq!(env.balances(&wallet), "100050000|0");

    let other = ["wallet", "top-up", &wallet, "500.01", "--currency", "BWP", "--id", "FNB-1"];
    let refused = env.is_refused(&other);
    let entry = &paid["entry"];
    assert_eq!(
        refused,
        format!("the reference FNB-1 belongs to another payment, journal entry {entry}; nothing was posted")
    );
    let adjusted =
        env.is_refused(&["wallet", "adjust", &wallet, "up", "500.00", "--currency", "BWP", "--id", "FNB-1"]);
    assert!(adjusted.contains("belongs to another payment"), "{adjusted}");
    let elsewhere = env.opens_wallet("KGALE");
    let moved =
        env.is_refused(&["wallet", "top-up", &elsewhere, "500.00", "--currency", "BWP", "--id", "FNB-1"]);
    assert!(moved.contains("belongs to another payment"), "{moved}");
    assert_eq!(env.balances(&wallet), "100050000|0");
    env.balances_add_up();
}

#[test]
fn a_payment_that_is_entered_by_several_at_once_is_posted_once() {
    let (env, wallet) = TestEnv::with_a_wallet();
    let posted: Vec<_> = std::thread::scope(|scope| {
        let enter = || scope.spawn(|| env.tops_up(&wallet, "1.00", "FNB-2")["posted_before"].clone());
        let entering: Vec<_> = (0..4).map(|_| enter()).collect();
        entering.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(posted.iter().filter(|before| **before == json!(false)).count(), 1, "{posted:?}");
    assert_eq!(env.balances(&wallet), "100000100|0");
    env.balances_add_up();
}

#[test]
fn a_balance_is_corrected_up_and_down_but_never_below_what_is_held() {
    let (env, wallet) = TestEnv::with_a_wallet();
    let adjust = |direction: &str, amount: &str, id: &str| {
        let command = ["wallet", "adjust", &wallet, direction, amount, "--currency", "BWP", "--id", id];
        command.map(str::to_owned)
    };
    let run = |command: [String; 9]| env.does(&command.each_ref().map(String::as_str));
    assert_eq!(run(adjust("up", "0.50", "T-1"))["available"], "BWP 1000000.50");
    assert_eq!(run(adjust("down", "1000.50", "T-2"))["available"], "BWP 999000.00");

    env.sql(&format!("UPDATE accounts SET held = 99899900 WHERE id = {wallet}"));
    let refused = env.is_refused(&adjust("down", "1.01", "T-3").each_ref().map(String::as_str));
    assert_eq!(
        refused,
        format!(
            "only BWP 1.00 can be taken out of wallet {wallet}: BWP 998999.00 of what is in it is held; \
             nothing was posted"
        )
    );
    assert_eq!(run(adjust("down", "1.00", "T-4"))["available"], "BWP 0.00");
    let against = "SELECT count(*) FROM journal_entries e JOIN postings p ON p.entry_id = e.id
                   JOIN accounts a ON a.house = 'FUNDING' AND a.id IN (debit_account_id, credit_account_id)
                   WHERE kind = 'ADJUST' AND reason = 'contract 17'";
    assert_eq!(env.sql(against), "3");
    env.balances_add_up();
}

#[test]
fn a_correction_may_be_posted_against_suspense() {
    let (env, wallet) = TestEnv::with_a_wallet();
    env.does(&[
        "wallet",
        "adjust",
        &wallet,
        "down",
        "100.00",
        "--currency",
        "BWP",
        "--id",
        "INC-1",
        "--against",
        "suspense",
    ]);
    let cleared =
        "SELECT amount FROM postings JOIN accounts ON id = credit_account_id WHERE house = 'SUSPENSE'";
    assert_eq!(env.sql(cleared), "10000");
}

#[test]
fn a_statement_lists_the_newest_entry_first_in_pages() {
    let (env, wallet) = TestEnv::with_a_wallet();
    for (amount, id) in [("1.00", "A"), ("2.00", "B"), ("3.00", "C")] {
        env.tops_up(&wallet, amount, id);
    }
    let page = env.shows(&["wallet", "statement", &wallet, "--limit", "2"]);
    let seen: Vec<_> = page.as_array().unwrap().iter().map(|line| line["amount"].as_str().unwrap()).collect();
    assert_eq!(seen, ["BWP 3.00", "BWP 2.00"]);
    assert_eq!((&page[0]["counterpart"], &page[0]["reference"]), (&json!("FUNDING"), &json!("C")));

    let last = page[1]["entry"].to_string();
    let rest = env.shows(&["wallet", "statement", &wallet, "--before", &last]);
    let seen: Vec<_> = rest.as_array().unwrap().iter().map(|line| line["amount"].as_str().unwrap()).collect();
    assert_eq!(seen, ["BWP 1.00", "BWP 1000000.00"]);
}

#[test]
fn a_settings_change_touches_what_it_names_and_only_an_empty_wallet_is_closed() {
    let (env, wallet) = TestEnv::with_a_wallet();
    let changed = env.does(&["account", "set", &wallet, "--handling", "managed", "--retries", "off"]);
    assert_eq!((&changed["handling"], &changed["retries"]), (&json!("MANAGED"), &json!(false)));
    assert_eq!((&changed["name"], &changed["rank"]), (&json!("Wallet"), &json!(1)));
    let nothing = env.is_refused(&["account", "set", &wallet]);
    assert!(nothing.starts_with("nothing to change; name at least one of "), "{nothing}");

    let full = env.is_refused(&["account", "close", &wallet]);
    assert!(full.starts_with(&format!("account {wallet} still has BWP 1000000.00")), "{full}");
    assert_eq!(env.does(&["account", "suspend", &wallet])["status"], "SUSPENDED");
    let closed_to_money =
        env.is_refused(&["wallet", "top-up", &wallet, "1.00", "--currency", "BWP", "--id", "X"]);
    assert_eq!(closed_to_money, format!("wallet {wallet} is suspended; nothing was posted"));
    env.does(&["wallet", "adjust", &wallet, "down", "1000000.00", "--currency", "BWP", "--id", "EMPTY"]);
    assert_eq!(env.does(&["account", "close", &wallet])["status"], "CLOSED");
    assert_eq!(env.does(&["account", "readmit", &wallet])["status"], "ACTIVE");
    let commission = env.sql("SELECT id FROM accounts WHERE category = 'COMMISSION'");
    assert!(env.is_refused(&["account", "close", &commission]).contains("collects commission"));
}

#[test]
fn one_payment_is_undone_once_and_nothing_else_is() {
    let (env, wallet) = TestEnv::with_a_wallet();
    let paid = env.tops_up(&wallet, "5000.00", "FNB-3")["entry"].to_string();
    env.tops_up(&wallet, "500.00", "FNB-4");
    let rehearsed = env.does(&["wallet", "reverse", &paid, "--dry-run"]);
    assert_eq!((&rehearsed["entry"], &rehearsed["available"]), (&json!(null), &json!("BWP 1000500.00")));
    assert_eq!(env.balances(&wallet), "100550000|0");
    let told = env.types(&["wallet", "reverse", &paid, "--dry-run", "--reason", "x"], "").stdout;
    let whose =
        format!("Entry {paid} is undone: BWP -5000.00 is posted to wallet {wallet} of KGALE (Wallet)");
    assert!(told.contains(&whose), "{told}");

    let reversal = env.does(&["wallet", "reverse", &paid]);
    assert_eq!(
        (&reversal["amount"], &reversal["available"]),
        (&json!("BWP -5000.00"), &json!("BWP 1000500.00"))
    );
    assert_eq!(env.balances(&wallet), "100050000|0");
    let undo = reversal["entry"].to_string();
    let again = env.is_refused(&["wallet", "reverse", &paid]);
    assert!(again.starts_with(&format!("entry {paid} was reversed before, by entry {undo}; ")), "{again}");
    for entry in [undo.as_str(), "4711"] {
        let refused = env.is_refused(&["wallet", "reverse", entry]);
        assert!(refused.starts_with(&format!("entry {entry} is no payment or correction")), "{refused}");
    }
    for entry in [&paid, &undo] {
        let by_hand = format!("SELECT reverse_payment({entry}, 'naledi', 'again')");
        assert!(env.database.run_sql(&by_hand).is_err(), "the database refuses {entry} by itself");
    }
    let down = [
        "wallet",
        "adjust",
        &wallet,
        "down",
        "100.00",
        "--currency",
        "BWP",
        "--against",
        "suspense",
        "--id",
        "T-1",
    ];
    let taken = env.does(&down)["entry"].to_string();
    assert_eq!(env.does(&["wallet", "reverse", &taken])["amount"], "BWP 100.00");
    assert_eq!(env.balances(&wallet), "100050000|0");
    let newest = "SELECT action || ' ' || (details ->> 'against') FROM audit_log ORDER BY id DESC LIMIT 1";
    assert_eq!(env.sql(newest), "account.adjusted SUSPENSE");
    env.balances_add_up();
}

#[test]
fn a_payment_that_was_spent_is_not_taken_back() {
    let (env, wallet) = TestEnv::with_a_wallet();
    let loaded = env.sql("SELECT id FROM journal_entries");
    env.does(&["wallet", "adjust", &wallet, "down", "0.01", "--currency", "BWP", "--id", "T-2"]);
    let refused = env.is_refused(&["wallet", "reverse", &loaded]);
    assert!(refused.starts_with("only BWP 999999.99 can be taken out of wallet"), "{refused}");
    assert_eq!(env.sql("SELECT count(*) FROM reversals"), "0");
}

#[test]
fn a_rehearsal_posts_nothing_and_an_amount_above_the_ceiling_is_refused() {
    let (env, wallet) = TestEnv::with_a_wallet();
    let pay = ["wallet", "top-up", &wallet, "500.00", "--currency", "BWP", "--id", "FNB-5"];
    let rehearsed = env.does(&[&pay[..], &["--dry-run"]].concat());
    assert_eq!((&rehearsed["entry"], &rehearsed["available"]), (&json!(null), &json!("BWP 1000500.00")));
    let down = ["wallet", "adjust", &wallet, "down", "2.50", "--currency", "BWP", "--id", "T-2", "--dry-run"];
    env.sql(&format!("UPDATE accounts SET held = 100 WHERE id = {wallet}"));
    let lowered = env.does(&down);
    let told = ["amount", "balance", "available"].map(|name| lowered[name].as_str().unwrap().to_owned());
    assert_eq!(told, ["BWP -2.50", "BWP 999997.50", "BWP 999996.50"]);
    env.sql(&format!("UPDATE accounts SET held = 0 WHERE id = {wallet}"));
    let broke =
        ["wallet", "adjust", &wallet, "down", "1000000.01", "--currency", "BWP", "--id", "T-3", "--dry-run"];
    assert!(env.is_refused(&broke).starts_with("only BWP 1000000.00 can be taken"));
    assert_eq!(env.balances(&wallet), "100000000|0");

    let ceiling = [("VENDGATE__OPERATOR__AMOUNT_MAX", "499.99")];
    let refused = env.types_with(&ceiling, &[&pay[..], &["--reason", "x"]].concat(), "");
    let said = "BWP 500.00 is above BWP 499.99, the greatest amount of one act; nothing was posted.";
    assert!(refused.stderr.contains(said), "{}", refused.stderr);
    let entry = env.sql("SELECT id FROM journal_entries");
    let reverse = ["wallet", "reverse", &entry, "--reason", "x"];
    assert_eq!(env.types_with(&ceiling, &reverse, "").code, 1);
    let unreadable = [("VENDGATE__OPERATOR__AMOUNT_MAX", "a lot")];
    let refused = env.types_with(&unreadable, &["organisation", "list"], "");
    assert!(refused.stderr.contains("`a lot` is not an amount"), "{}", refused.stderr);
    assert_eq!(env.sql("SELECT count(*) FROM journal_entries"), "1");
}
