//! Acts that need two people: one requests, another one approves, and the database does it once.

use serde_json::{Value, json};

use crate::{
    office::{Outcome, TestEnv, WHY, run, run_in_env},
    open_purchase::{SEALING_KEY, TOKEN},
    shapes::{fields, sorted},
};

impl TestEnv {
    /// Runs a command that changes something, or requests it, as this person. It must succeed. Returns its JSON.
    pub fn does_as(&self, person: &str, command: &str) -> Value {
        let words: Vec<&str> = command.split(' ').collect();
        self.types_as(person, &words, true).of_a_change(command)
    }

    /// The same for a command that must be refused. Returns the line of the error.
    fn refuses_as(&self, person: &str, command: &str) -> String {
        let words: Vec<&str> = command.split(' ').collect();
        let outcome = self.types_as(person, &words, true);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (1, ""), "{command}");
        outcome.stderr
    }

    pub fn decides_as(&self, person: &str, arguments: &[&str], token: &str) -> Outcome {
        let url = self.url_as(person);
        let environment = [
            ("VENDGATE__OPERATOR__DATABASE_URL", url.as_str()),
            ("VENDGATE__SEALING__CURRENT__ID", "1"),
            ("VENDGATE__SEALING__CURRENT__KEY", SEALING_KEY),
        ];
        run_in_env(environment, &[&["--json"], arguments, &WHY].concat(), token)
    }
}

#[test]
fn a_payment_above_the_threshold_is_posted_once_when_another_person_approves() {
    let (env, wallet) = TestEnv::with_a_wallet();
    let env = env.with_people();
    env.does_as("lesego", "approvals require top-up --above 100.00");
    let top_up = |amount: &str, id: &str| format!("wallet top-up {wallet} {amount} --currency BWP --id {id}");
    assert!(env.does_as("thabo", &top_up("100.00", "A"))["entry"].is_i64(), "not above it");

    let asked = env.does_as("thabo", &top_up("100.01", "B"));
    let names = "request act arguments reason token_sha256 role requested_by requested_at expires_at status decided_by decided_at \
                 decided_because";
    assert_eq!(sorted(&fields(&asked)), sorted(names));
    assert_eq!((&asked["status"], &asked["requested_by"]), (&json!("WAITING"), &json!("thabo")));
    assert_eq!(env.does_as("thabo", &top_up("100.01", "B"))["request"], asked["request"], "one request");
    let posted = "SELECT count(*) FROM journal_entries WHERE kind = 'TOP_UP' AND reference IS NOT NULL";
    assert_eq!(env.sql(posted), "1");

    let told = || {
        let lines = env.shows(&["audit", "list", "-o", "KGALE"]);
        let of = |line: &Value| format!("{} {}", line["action"], line["organisation"]).replace('"', "");
        let lines = lines.as_array().unwrap().iter().map(of).filter(|line| line.starts_with("approval."));
        lines.collect::<Vec<_>>()
    };
    assert_eq!(told(), ["approval.requested KGALE"], "it is about a wallet of KGALE");
    let approve = format!("approvals approve {}", asked["request"]);
    let own = env.refuses_as("thabo", &approve);
    assert!(own.contains("this was requested by you; another person"), "{own}");
    let other_role = env.refuses_as("lesego", &approve);
    assert!(other_role.contains("this needs the role finance; you have administrator"), "{other_role}");
    env.does_as("mpho", &format!("{approve} --dry-run"));
    assert_eq!(env.sql(posted), "1");
    assert_eq!(env.does_as("mpho", &approve)["status"], "APPROVED");
    assert_eq!(env.sql(posted), "2");
    assert_eq!(told(), ["approval.approved KGALE", "approval.requested KGALE"]);
    assert!(env.shows(&["audit", "verify"])["lines"].is_u64(), "the organisation is in the hash");
    let again = env.refuses_as("mpho", &approve);
    assert!(again.contains("mpho has decided request 1 before"), "{again}");
    assert_eq!(env.sql(posted), "2");
    let line = "SELECT login, actor, details ->> 'on_behalf_of', details ->> 'amount' FROM audit_log
                WHERE action = 'account.topped_up' ORDER BY id DESC LIMIT 1";
    assert_eq!(env.sql(line), "mpho|mpho|thabo|BWP 100.01");

    // A request that was turned down or has expired is not carried out.
    let rejected = env.does_as("thabo", &top_up("200.00", "C"))["request"].clone();
    assert_eq!(env.does_as("thabo", &format!("approvals reject {rejected}"))["status"], "REJECTED");
    assert!(env.refuses_as("mpho", &format!("approvals approve {rejected}")).contains("thabo has decided"));
    let late = env.does_as("thabo", &top_up("300.00", "D"))["request"].clone();
    env.sql(&format!("SET session_replication_role = replica; UPDATE approval_requests SET expires_at = now() WHERE id = {late}"));
    assert!(env.refuses_as("mpho", &format!("approvals approve {late}")).contains("has expired"));
    assert_eq!(env.sql(posted), "2");
}

#[test]
fn corrections_reversals_and_charges_above_the_threshold_need_a_second_person() {
    let (env, wallet) = TestEnv::with_a_till();
    let env = env.with_people();
    let entry =
        env.does_as("thabo", &format!("wallet top-up {wallet} 50.00 --currency BWP --id A"))["entry"].clone();
    env.sql(
        "INSERT INTO unmatched_vends (id, provider_code, provider_reference, provider_transaction, vended_at, product,
             subscriber_identifier, currency, net)
         SELECT n, 'BPC', '20261124032043-00090' || n, 'R-' || n, now(), 'AIRTIME', '26771234567', 'BWP', 1000
         FROM generate_series(1, 2) AS n",
    );
    let commission = env.sql("SELECT id FROM accounts WHERE category = 'COMMISSION'");
    env.does_as("thabo", &format!("wallet adjust {commission} up 9.00 --currency BWP --id C"));
    env.does_as("lesego", "approvals require adjust");
    for (account, command, change) in [
        (&wallet, format!("wallet adjust {wallet} down 2.00 --currency BWP --id B --against suspense"), -200),
        (&wallet, format!("wallet reverse {entry}"), -5_000),
        (&wallet, format!("recover charge 1 2 --account {wallet}"), -2_000),
        (&commission, format!("commission pay {commission} 4.00 --currency BWP --id D"), -400),
    ] {
        let balance =
            || env.sql(&format!("SELECT posted FROM accounts WHERE id = {account}")).parse::<i64>().unwrap();
        let before = balance();
        env.does_as("thabo", &format!("{command} --dry-run"));
        let request = env.does_as("thabo", &command)["request"].clone();
        assert_eq!(balance(), before, "{command}");
        env.does_as("mpho", &format!("approvals approve {request}"));
        assert_eq!(balance(), before + change, "{command}");
        let again = env.refuses_as("mpho", &format!("approvals approve {request}"));
        assert!(again.contains("has decided request"), "{command}: {again}");
    }
    assert_eq!(env.sql("SELECT count(*) FROM reversals"), "1");
    assert_eq!(
        env.sql("SELECT string_agg(kind, ' ') FROM payouts"),
        "COMMISSION",
        "paid out, and no correction"
    );
    assert_eq!(
        env.sql(
            "SELECT count(*) FROM unmatched_vend_decisions WHERE actor = 'mpho' AND entry_id IS NOT NULL"
        ),
        "2"
    );
}

#[test]
fn a_vend_that_a_person_vouches_for_is_paid_when_another_person_approves_it() {
    let (env, _) = TestEnv::with_a_till();
    let env = env.with_people();
    env.does_as("lesego", "approvals require resolve");
    let purchase = env.inserts_purchase_in_review("ELECTRICITY", "04257670465");
    let vended = ["--as", "vended", "--provider-transaction", "9911", "--units", "45.2 kWh", "--token-stdin"];
    let asked =
        env.decides_as("lesego", &[&["purchases", "resolve", &purchase], &vended[..]].concat(), TOKEN);
    assert_eq!(asked.code, 3, "{}", asked.stderr);
    let asked: Value = serde_json::from_str(&asked.stdout).unwrap();
    assert_eq!(env.sql("SELECT state FROM purchases"), "REVIEW");
    let kept = env.sql("SELECT concat_ws('|', sealed_token, arguments, reason) FROM approval_requests");
    let in_the_log = env.sql("SELECT string_agg(details::text, ' ') FROM audit_log");
    assert!(!format!("{kept} {in_the_log} {asked}").contains("0808625949"), "no token is readable");

    let request = asked["request"].to_string();
    let without = ["approvals", "approve", &request];
    let approve = ["approvals", "approve", &request, "--token-stdin"];
    let own = env.decides_as("lesego", &approve, TOKEN);
    assert!(own.stderr.contains("this was requested by you"), "{}", own.stderr);
    let shown = env.types(&["approvals", "show", &request], "").stdout;
    for about in
        ["of KGALE, Kgale Stores, at 2", ": ELECTRICITY for 04257670465 (K. MOLEFE)", "enters the token too"]
    {
        assert!(shown.contains(about), "{shown}");
    }
    let rehearsed = env.decides_as("kabelo", &[&without[..], &["--dry-run"]].concat(), "");
    assert_eq!(rehearsed.code, 0, "{}", rehearsed.stderr);
    let keyless =
        run(&env.url_as("kabelo"), &["approvals", "approve", &request, "--dry-run", "--reason", "x"], "");
    assert!(keyless.stderr.contains("[sealing]"), "{}", keyless.stderr);
    let untold = env.decides_as("kabelo", &without, "");
    assert!(untold.stderr.contains("to approve it, enter the token again"), "{}", untold.stderr);
    let mistyped = env.decides_as("kabelo", &approve, "0808 6259 4989 7426 3578");
    assert!(mistyped.stderr.contains("this is not the token of request"), "{}", mistyped.stderr);
    assert!(!mistyped.stderr.contains("0808"), "{}", mistyped.stderr);
    assert_eq!(env.sql("SELECT state FROM purchases"), "REVIEW");
    let approved = env.decides_as("kabelo", &approve, TOKEN.replace(' ', "-").as_str());
    assert_eq!((approved.code, approved.stderr.as_str()), (0, ""));
    let story = env.types(&["purchases", "show", &purchase], "").stdout;
    for sentence in [
        format!("lesego (approval.requested, request {request}): \"contract 17\"."),
        format!("kabelo (approval.approved, request {request} of lesego): \"contract 17\"."),
        "kabelo on behalf of lesego (purchase.resolved): \"contract 17\".".to_owned(),
    ] {
        assert!(story.contains(&sentence), "{sentence}: {story}");
    }
    let decided =
        "SELECT state, provider_transaction, units_quantity, sealed_token IS NOT NULL FROM purchases";
    assert_eq!(env.sql(decided), "SUCCESSFUL|9911|45.2|t");
    assert_eq!(env.wallet(), "99989850|0");
    let line =
        "SELECT login, details ->> 'on_behalf_of', reason FROM audit_log WHERE action = 'purchase.resolved'";
    assert_eq!(env.sql(line), "kabelo|lesego|contract 17");
    assert_eq!(
        env.sql("SELECT sealed_token IS NULL AND token_sha256 IS NOT NULL FROM approval_requests"),
        "t"
    );
    assert_eq!(env.decides_as("kabelo", &approve, TOKEN).code, 1);
}

#[test]
fn a_token_that_was_issued_for_another_purchase_is_refused() {
    let (env, _) = TestEnv::with_a_till();
    let env = env.with_people();
    let meter = "04257670465";
    let first = env.inserts_purchase_in_review("ELECTRICITY", meter);
    assert_eq!(env.decides_as("lesego", &vended(&first, "9911"), TOKEN).code, 0);
    let second = env.inserts_purchase_in_review("ELECTRICITY", meter);
    let other_meter = env.inserts_purchase_in_review("ELECTRICITY", "04257670466");
    for words in [
        vended(&second, "9912"),
        [vended(&second, "9912"), vec!["--dry-run"]].concat(),
        vended(&other_meter, "9913"),
    ] {
        let refused = env.decides_as("lesego", &words, "0808-6259-4989-7426-3587");
        let that_of = format!("vendctl: this token is that of purchase {first}; nothing was decided");
        assert!(refused.stderr.starts_with(&that_of), "{words:?}: {}", refused.stderr);
    }
    assert_eq!(env.decides_as("lesego", &vended(&second, "9912"), "08086259498974263588").code, 0);
}

#[test]
fn a_declaration_and_a_lower_protection_need_a_second_person_while_they_are_guarded() {
    let env = TestEnv::with_an_offer().with_people();
    env.does_as("lesego", "approvals require declare");
    env.does_as("lesego", "provider declare BPC --worker-slots 8");
    let would_be = env.does_as("lesego", "provider declare BPC --repeat-is-safe on --dry-run");
    assert_eq!((&would_be["repeat_is_safe"], &would_be["worker_slots"]), (&json!(true), &json!(8)));
    let asked = env.does_as("lesego", "provider declare BPC --repeat-is-safe on")["request"].clone();
    let safe = "SELECT repeat_is_safe, worker_slots FROM providers WHERE code = 'BPC'";
    assert_eq!(env.sql(safe), "f|8");
    env.does_as("kabelo", &format!("approvals approve {asked}"));
    assert_eq!(env.sql(safe), "t|8");

    env.does_as("lesego", "approvals require top-up --above 100.00");
    env.does_as("lesego", "approvals require top-up --above 50.00");
    let above = "SELECT above FROM approval_thresholds WHERE act = 'TOP_UP'";
    for lower in ["--above 60.00", "--off"] {
        let asked = env.does_as("lesego", &format!("approvals require top-up {lower}"))["request"].clone();
        assert_eq!(env.sql(above), "5000");
        assert!(env.refuses_as("lesego", &format!("approvals approve {asked}")).contains("requested by you"));
        env.does_as("kabelo", &format!("approvals reject {asked}"));
    }
    let asked = env.does_as("lesego", "approvals require top-up --off")["request"].clone();
    env.does_as("kabelo", &format!("approvals approve {asked}"));
    assert_eq!(env.sql(above), "");
    assert_eq!(env.sql("SELECT count(*) FROM audit_log WHERE action = 'approval.threshold_set'"), "4");
}

/// The words of a decision about a vend of this transaction.
fn vended<'a>(purchase: &'a str, transaction: &'a str) -> Vec<&'a str> {
    let mut words =
        vec!["purchases", "resolve", purchase, "--as", "vended", "--provider-transaction", transaction];
    words.extend(["--units", "45.2 kWh", "--token-stdin"]);
    words
}

#[test]
fn a_rehearsal_refuses_a_vend_that_became_that_of_another_purchase_as_the_approval_does() {
    let (env, _) = TestEnv::with_a_till();
    let env = env.with_people();
    env.does_as("lesego", "approvals require resolve");
    let requests = ["04257670465", "04257670466"].map(|meter| {
        let purchase = env.inserts_purchase_in_review("ELECTRICITY", meter);
        let asked = env.decides_as("lesego", &vended(&purchase, "9911"), TOKEN);
        assert_eq!(asked.code, 3, "{}", asked.stderr);
        let asked: Value = serde_json::from_str(&asked.stdout).unwrap();
        (purchase, asked["request"].to_string())
    });
    let [(first, one), (second, two)] = requests;
    assert_eq!(env.decides_as("kabelo", &["approvals", "approve", &two, "--dry-run"], "").code, 0);
    assert_eq!(env.decides_as("kabelo", &["approvals", "approve", &one, "--token-stdin"], TOKEN).code, 0);
    let that_of = format!("vend 9911 is that of purchase {first}");
    let approve = ["approvals", "approve", &two, "--token-stdin"];
    for words in [&[&approve[..], &["--dry-run"]].concat()[..], &approve] {
        let refused = env.decides_as("kabelo", words, TOKEN);
        assert!(refused.stderr.contains(&that_of), "{words:?}: {}", refused.stderr);
    }
    env.does_as("lesego", &format!("approvals reject {two}"));
    let again = env.decides_as("lesego", &[vended(&second, "9911"), vec!["--dry-run"]].concat(), TOKEN);
    assert!(again.stderr.contains(&that_of), "a rehearsed decision, too: {}", again.stderr);
    assert_eq!(env.sql(&format!("SELECT state FROM purchases WHERE id = {second}")), "REVIEW");
}

#[test]
fn nothing_else_is_decided_about_a_purchase_while_a_request_about_it_waits() {
    let (env, _) = TestEnv::with_a_till();
    let env = env.with_people();
    env.does_as("lesego", "approvals require resolve");
    let purchase = env.inserts_purchase_in_review("ELECTRICITY", "04257670465");
    let asks = |person: &str, transaction: &str| {
        let outcome = env.decides_as(person, &vended(&purchase, transaction), TOKEN);
        if outcome.code != 3 {
            return Err(outcome.stderr);
        }
        Ok(serde_json::from_str::<Value>(&outcome.stdout).unwrap()["request"].to_string())
    };
    let first = asks("lesego", "9911").unwrap();
    assert_eq!(asks("lesego", "9911").unwrap(), first, "the same request is not a second one");
    let waits = format!("vendctl: request {first} of lesego about purchase {purchase} waits; ");
    let told = env.types(&["purchases", "show", &purchase], "").stdout;
    let advice =
        format!("Request {first} says that it was vended, and waits for the approval of another person");
    assert!(told.contains(&advice) && !told.contains("--as not-vended"), "{told}");
    let about = env.shows(&["audit", "list", "--subject", &format!("purchase:{purchase}")]);
    assert_eq!(about[0]["action"], "approval.requested", "{about}");
    for (person, transaction) in [("lesego", "9912"), ("kabelo", "9911")] {
        let refused = asks(person, transaction).unwrap_err();
        assert!(refused.starts_with(&waits), "{person}: {refused}");
    }
    let support = env.refuses_as("thabo", &format!("purchases resolve {purchase} --as not-vended"));
    assert!(support.contains("this needs the role"), "the role is asked before the state: {support}");
    let not_vended = ["purchases", "resolve", &purchase, "--as", "not-vended"];
    for words in [[&not_vended[..], &["--dry-run"]].concat(), not_vended.to_vec()] {
        let refused = env.decides_as("kabelo", &words, "").stderr;
        assert!(
            refused.starts_with(&waits),
            "what a request says was vended is not refunded past it: {refused}"
        );
    }
    assert_eq!(env.sql(&format!("SELECT state FROM purchases WHERE id = {purchase}")), "REVIEW");
    let past_vendctl = format!(
        "SELECT request_approval('RESOLVE', '{{\"purchase\": {purchase}}}', '', 'by hand', NULL, NULL, NULL)"
    );
    let refused = env.database.run_sql(&past_vendctl).unwrap_err().to_string();
    assert!(refused.contains("approval_requests_one_open_per_purchase"), "{refused}");
    env.does_as("kabelo", &format!("approvals reject {first}"));
    let second = asks("kabelo", "9912").unwrap();
    env.sql(&format!(
        "SET session_replication_role = replica; UPDATE approval_requests SET expires_at = now() WHERE id = {second}"
    ));
    assert!(asks("lesego", "9911").is_ok());
}

#[test]
fn a_payment_is_requested_once_under_an_id_whoever_asks_and_nothing_is_posted_past_the_request() {
    let (env, wallet) = TestEnv::with_a_wallet();
    env.owes_wuc();
    let entry = env.sql("SELECT id FROM journal_entries WHERE kind = 'TOP_UP'");
    let env = env.with_people();
    for act in ["top-up --above 100.00", "adjust --above 100.00"] {
        env.does_as("lesego", &format!("approvals require {act}"));
    }
    let top_up = |amount: &str| format!("wallet top-up {wallet} {amount} --currency BWP --id BANK-1");
    let first = env.does_as("thabo", &top_up("500.00"))["request"].clone();
    let waits = format!("vendctl: request {first} of thabo about the payment under BANK-1 waits; ");
    for (person, command) in [
        ("mpho", top_up("500.00")),
        ("mpho", format!("{} --dry-run", top_up("500.00"))),
        ("thabo", top_up("500.01")),
        ("mpho", top_up("5.00")),
        ("mpho", format!("wallet adjust {wallet} up 500.00 --currency BWP --id BANK-1")),
        ("mpho", "provider pay WUC 5.00 --currency BWP --id BANK-1".to_owned()),
    ] {
        let refused = env.refuses_as(person, &command);
        assert!(refused.starts_with(&waits), "{person} {command}: {refused}");
    }
    assert_eq!(env.does_as("thabo", &top_up("500.00"))["request"], first, "the same request");
    let by_hand = |act: &str, arguments: &str| {
        let ask = format!("SELECT request_approval('{act}', '{arguments}', '', 'by hand', NULL, NULL, NULL)");
        let refused = env.database.run_sql(&ask).unwrap_err().to_string();
        assert!(refused.contains("approval_requests_one_open_per_subject"), "{refused}");
    };
    by_hand("ADJUST", r#"{"reference": "BANK-1"}"#);

    env.does_as("mpho", &format!("approvals approve {first}"));
    assert_eq!(env.does_as("mpho", &top_up("500.00"))["posted_before"], true);
    let reverse = format!("wallet reverse {entry}");
    let undo = env.does_as("mpho", &reverse)["request"].clone();
    let refused = env.refuses_as("thabo", &reverse);
    assert!(refused.contains(&format!("request {undo} of mpho about the reversal of entry {entry} waits")));
    by_hand("REVERSE", &format!(r#"{{"entry": {entry}}}"#));
    env.does_as("mpho", &format!("approvals reject {undo}"));
    let undo = env.does_as("thabo", &reverse)["request"].clone();
    env.sql(&format!(
        "SET session_replication_role = replica; UPDATE approval_requests SET expires_at = now() WHERE id = {undo}"
    ));
    assert!(env.does_as("mpho", &reverse)["request"].is_i64(), "the first has expired");
}

#[test]
fn contrary_declarations_of_a_provider_do_not_wait_beside_each_other() {
    let env = TestEnv::with_an_offer().with_people();
    env.does_as("lesego", "approvals require declare");
    let first = env.does_as("lesego", "provider declare BPC --repeat-is-safe on")["request"].clone();
    let waits = format!("vendctl: request {first} of lesego about provider BPC waits; ");
    for (person, change) in [
        ("kabelo", "--not-found-counts on"),
        ("kabelo", "--repeat-is-safe on"),
        ("lesego", "--settles-within 5m"),
        ("kabelo", "--settles-within 5m --dry-run"),
    ] {
        let refused = env.refuses_as(person, &format!("provider declare BPC {change}"));
        assert!(refused.starts_with(&waits), "{person} {change}: {refused}");
    }
    assert_eq!(env.does_as("kabelo", "provider declare BPC --worker-slots 8")["worker_slots"], 8);
    let by_hand = r#"SELECT request_approval('DECLARE', '{"code": "BPC"}', '', 'by hand', NULL, NULL, NULL)"#;
    let refused = env.database.run_sql(by_hand).unwrap_err().to_string();
    assert!(refused.contains("approval_requests_one_open_per_subject"), "{refused}");
    env.does_as("kabelo", &format!("approvals approve {first}"));
    assert!(env.does_as("kabelo", "provider declare BPC --settles-within 5m")["request"].is_i64());
}

#[test]
fn a_request_names_the_owner_of_its_wallet_and_a_threshold_that_is_off_is_named() {
    let (env, wallet) = TestEnv::with_a_wallet();
    let env = env.with_people();
    let list = || env.types(&["approvals", "list"], "").stdout;
    assert!(
        list().contains("No second person is needed for: top-up, adjust, resolve, release, declare."),
        "{}",
        list()
    );
    env.does_as("lesego", "approvals require top-up");
    let request = env.does_as("thabo", &format!("wallet top-up {wallet} 5.00 --currency BWP --id A"));
    assert_eq!(request["arguments"]["owner"], "KGALE (Wallet)");
    assert!(
        list().contains("owner KGALE (Wallet)") && list().contains("for: adjust, resolve, release, declare.")
    );
    let show = || env.types(&["approvals", "show", &request["request"].to_string()], "").stdout;
    let any_more = "No second person is needed for this any more";
    assert!(!show().contains(any_more), "{}", show());
    let off = env.does_as("lesego", "approvals require top-up --off")["request"].clone();
    env.does_as("kabelo", &format!("approvals approve {off}"));
    assert!(show().contains(any_more), "{}", show());
}

#[test]
fn a_release_above_the_threshold_is_done_when_another_person_approves_it() {
    let (env, _) = TestEnv::with_a_till();
    let env = env.with_people();
    env.does_as("lesego", "approvals require release --above 50.00");
    let purchase = env.inserts_purchase_in_review("ELECTRICITY", "04257670465");
    let resolve = format!("purchases resolve {purchase} --as not-vended");
    let state = || env.sql(&format!("SELECT state FROM purchases WHERE id = {purchase}"));
    env.does_as("lesego", &format!("{resolve} --dry-run"));
    let asked = env.does_as("lesego", &resolve);
    assert_eq!((&asked["act"], state().as_str()), (&json!("RELEASE"), "REVIEW"));
    let told = env.types(&["purchases", "show", &purchase], "").stdout;
    assert!(told.contains("says that nothing was vended, and would release the money"), "{told}");
    let waits = env.types(&["approvals", "show", &asked["request"].to_string()], "").stdout;
    assert!(
        waits.contains("With the approval BWP 101.50 is released as not vended. This cannot be undone."),
        "{waits}"
    );
    let words: Vec<&str> = resolve.split(' ').chain(["--reason", "once more"]).collect();
    let again = run(&env.url_as("lesego"), &words, "").stdout;
    assert!(again.contains("You had made this request before"), "{again}");
    let unlisted = env.refuses_as("lesego", &format!("{resolve} --despite-statement"));
    assert!(unlisted.contains("no statement has a vend of this purchase"), "{unlisted}");
    let own = env.refuses_as("lesego", &format!("approvals approve {}", asked["request"]));
    assert!(own.contains("this was requested by you"), "{own}");

    // What a statement was found to list since the request is a question that the second person was not asked.
    env.sql(&format!(
        "SET session_replication_role = replica;
         INSERT INTO reconciliations (id, provider_code, file_name, file_sha256, covers_from, covers_until, tolerance_s, actor, reason)
         OVERRIDING SYSTEM VALUE
         VALUES (900, 'BPC', 'late.csv', sha256(''), now() - interval '1 day', now(), 0, 'x', 'x');
         INSERT INTO reconciliation_sightings (purchase_id, reconciliation_id) VALUES ({purchase}, 900)"
    ));
    let listed = env.refuses_as("kabelo", &format!("approvals approve {}", asked["request"]));
    assert!(listed.contains("the statement late.csv was found to have a vend"), "{listed}");
    env.sql("SET session_replication_role = replica; DELETE FROM reconciliation_sightings");
    assert_eq!(
        env.does_as("kabelo", &format!("approvals approve {}", asked["request"]))["status"],
        "APPROVED"
    );
    assert_eq!(state(), "FAILED");
}

#[test]
fn who_pays_or_approves_reads_what_the_wallet_has_and_what_else_waits_about_it() {
    let (env, wallet) = TestEnv::with_a_wallet();
    let env = env.with_people();
    let entry =
        env.does_as("thabo", &format!("wallet top-up {wallet} 50.00 --currency BWP --id A"))["entry"].clone();
    env.does_as("lesego", "approvals require adjust --above 10.00");
    let reversal = env.does_as("thabo", &format!("wallet reverse {entry}"))["request"].clone();
    let down = format!("wallet adjust {wallet} down 50.00 --currency BWP --id B");
    let words: Vec<&str> = down.split(' ').chain(["--dry-run", "--reason", "x"]).collect();
    let rehearsed = env.types(&words, "").stdout;
    let named = format!("About the same wallet waits: request {reversal} (REVERSE:");
    assert!(rehearsed.contains(&named), "{rehearsed}");
    let second = env.does_as("thabo", &down)["request"].to_string();
    let shown = env.types(&["approvals", "show", &second], "").stdout;
    assert!(
        shown.contains("has BWP 1000050.00 now") && shown.contains("Afterwards it has BWP 1000000.00."),
        "{shown}"
    );
    assert!(shown.contains("taken out of the wallet") && shown.contains(&named), "{shown}");
    let subjects = env.shows(&["audit", "list", "--subject", &format!("account:{wallet}")]);
    let requested = subjects.as_array().unwrap().iter().filter(|line| line["action"] == "approval.requested");
    assert_eq!(requested.count(), 2, "the log of a wallet has the requests about it");
}
