//! The audit log: every change has a line with actor and reason, and the log can be queried and verified.

use test_kit::database::OPERATOR;

use crate::office::{TestEnv, WHY, run_unnamed};

/// Every changing command of onboarding and accounts with its action in the log, in an order in which each succeeds.
/// Decisions about purchases and incidents have tests of their own.
const CHANGES: &[(&str, &str)] = &[
    ("organisation create KGALE --name Kgale --environment staging", "organisation.created"),
    ("organisation suspend KGALE", "organisation.status_set"),
    ("organisation readmit KGALE", "organisation.status_set"),
    ("organisation set-receipt-footer KGALE --line Gaborone", "organisation.receipt_footer_set"),
    ("client create -o KGALE --name tills", "client.secret_added"),
    ("client suspend $CLIENT", "client.status_set"),
    ("client readmit $CLIENT", "client.status_set"),
    ("secret rotate $CLIENT", "client.secret_expired"),
    ("secret revoke $CLIENT 1", "client.secret_revoked"),
    ("user create till -o KGALE --full-name T --role viewer --generate-password", "user.created"),
    ("user set-role till integrator -o KGALE", "user.role_set"),
    ("user set-password till -o KGALE --generate-password", "user.password_replaced"),
    ("user suspend till -o KGALE", "user.status_set"),
    ("user readmit till -o KGALE", "user.status_set"),
    ("account open -o KGALE --name Wallet --currency BWP", "account.topped_up"),
    ("account set $WALLET --rank 2", "account.changed"),
    ("account set $WALLET --low-balance 500.00", "account.changed"),
    ("account suspend $WALLET", "account.status_set"),
    ("account readmit $WALLET", "account.status_set"),
    ("wallet top-up $WALLET 5.00 --currency BWP --id A", "account.topped_up"),
    ("wallet adjust $WALLET down 1000005.00 --currency BWP --id B", "account.adjusted"),
    ("account close $WALLET", "account.status_set"),
    ("product set electricity --min 11", "product.changed"),
    ("product set-text electricity fr --label Compteur", "product_text.changed"),
    ("product remove-text electricity fr", "product_text.removed"),
    ("provider declare BPC --name BPC", "provider.declared"),
    ("provider retries BPC off", "provider.retries_set"),
    ("provider float-limit BPC 100.00 --currency BWP", "provider.float_limit_set"),
    ("provider breaker BPC --calls 20", "provider.breaker_declared"),
    ("provider breaker BPC --off", "provider.breaker_removed"),
    ("provider pause BPC --until 2099-01-01", "provider.paused"),
    ("provider resume BPC", "provider.resumed"),
    ("offer set -o KGALE electricity BPC --currency BWP", "offer.changed"),
    ("default-provider set -o KGALE electricity BPC", "default_provider.changed"),
    ("default-provider remove -o KGALE electricity", "default_provider.removed"),
    ("offer remove -o KGALE electricity BPC", "offer.removed"),
    ("allow-list add -o KGALE 04257670465", "allow_list.lengthened"),
    ("allow-list remove -o KGALE 04257670465", "allow_list.shortened"),
];

#[test]
fn every_change_has_an_audit_line_with_actor_action_and_reason() {
    let env = TestEnv::open();
    for (change, action) in CHANGES {
        let client = env.sql("SELECT client_id FROM oauth_clients");
        let wallet = env.sql("SELECT id FROM accounts WHERE category = 'CURRENT'");
        let command = change.replace("$CLIENT", &client).replace("$WALLET", &wallet);
        let before = env.sql("SELECT coalesce(max(id), 0) FROM audit_log");
        env.does(&command.split(' ').collect::<Vec<_>>());
        let newest = "SELECT action FROM audit_log ORDER BY id DESC LIMIT 1";
        assert_eq!(env.sql(newest), *action, "{change}");
        let unexpected = format!(
            "SELECT count(*) FROM audit_log WHERE id > {before}
                 AND (actor <> login OR details ->> 'on_behalf_of' <> 'naledi' OR reason <> 'contract 17' OR login <> 'test_operator')"
        );
        assert_eq!(env.sql(&unexpected), "0", "{change}");
    }
}

#[test]
fn a_query_writes_no_audit_line() {
    let (env, wallet) = TestEnv::with_a_wallet();
    let before = env.sql("SELECT count(*) FROM audit_log");
    for query in [
        "organisation list",
        "client list -o KGALE",
        "user list -o KGALE",
        "role list",
        "account list -o KGALE",
        "product list",
        "provider list",
        "offer list -o KGALE",
        "default-provider show -o KGALE",
        "allow-list list -o KGALE",
        "operators list",
        "audit list",
        "audit head",
        "audit verify",
        "purchases list --open",
        "incidents list",
        "outbox list",
        "report sales --date 2026-11-20",
        "report payable --date 2026-11-20 --by provider,day",
        "report fees --date 2026-11-20",
        "report commission --date 2026-11-20 --by organisation,product",
        "purchases search --since 2026-11-20",
    ] {
        env.shows(&query.split(' ').collect::<Vec<_>>());
    }
    env.shows(&["wallet", "statement", &wallet]);
    assert_eq!(env.sql("SELECT count(*) FROM audit_log"), before);
}

#[test]
fn the_log_is_filtered_by_organisation_subject_and_time_in_pages() {
    let env = TestEnv::open();
    env.creates_organisation("KGALE", "staging");
    env.creates_organisation("PHAKA", "staging");
    env.does(&["organisation", "suspend", "PHAKA"]);
    let count =
        |arguments: &[&str]| env.shows(&[&["audit", "list"], arguments].concat()).as_array().unwrap().len();
    assert_eq!(count(&[]), 3);
    assert_eq!(count(&["-o", "PHAKA"]), 2);
    assert_eq!(count(&["--subject", "organisation:1"]), 1);
    assert_eq!(count(&["--subject", "organisation:PHAKA"]), 2);
    assert!(env.types(&["audit", "list", "--subject", "organisation:NOBODY"], "").stderr.contains("NOBODY"));
    assert_eq!(count(&["--since", "today", "--until", "2999-01-01"]), 3);
    assert_eq!(count(&["--until", "2000-01-01"]), 0);
    assert_eq!(count(&["--since", "2000-01-01T00:00:00Z"]), 3);
    assert_eq!(count(&["--since", "2999-01-01T00:00:00Z"]), 0);
    assert_eq!(count(&["--since", "2999-01-01"]), 0);
    let by_note = env.types(&["audit", "list", "--actor", "naledi"], "");
    assert_eq!((by_note.code, by_note.stdout.as_str()), (1, ""), "{}", by_note.stderr);
    assert!(by_note.stderr.contains("those of --login"), "{}", by_note.stderr);

    let page = env.shows(&["audit", "list", "--limit", "2"]);
    assert_eq!(
        (&page[0]["action"], &page[0]["organisation"]),
        (&"organisation.status_set".into(), &"PHAKA".into())
    );
    let rest = env.shows(&["audit", "list", "--before", &page[1]["id"].to_string()]);
    assert_eq!(rest.as_array().unwrap().len(), 1);
    assert_eq!(rest[0]["details"]["code"], "KGALE");
}

#[test]
fn the_subject_of_a_line_is_named_as_people_know_it() {
    let (env, _) = TestEnv::with_a_till();
    let purchase = env.inserts_purchase_in_review("AIRTIME", "26771234567");
    env.does(&["purchases", "resolve", &purchase, "--as", "not-vended"]);
    let client = env.shows(&["client", "list", "-o", "KGALE"])[0]["client_id"].as_str().unwrap().to_owned();
    let actions = |arguments: &[&str]| {
        let lines = env.shows(&[&["audit", "list"], arguments].concat());
        lines.as_array().unwrap().iter().map(|line| line["action"].as_str().unwrap().to_owned()).collect()
    };
    let reference = format!("TOP/2026/11/{purchase:0>10}");
    let decided: Vec<String> = actions(&["--subject", &format!("purchase:{purchase}")]);
    assert_eq!(decided.len(), 1);
    for named in [reference.clone(), format!("purchase:{reference}")] {
        assert_eq!(actions(&["--subject", &named]), decided, "{named}");
    }
    assert_eq!(
        actions(&["--subject", &format!("client:{client}")]),
        ["client.secret_added", "client.created"]
    );
    assert_eq!(actions(&["-o", "KGALE", "--subject", "user:till"]), ["user.created"]);
    let nobodys = env.types(&["audit", "list", "--subject", "user:till"], "");
    assert!(nobodys.stderr.contains("--organisation"), "{}", nobodys.stderr);
}

#[test]
fn the_actor_is_the_login_and_any_other_name_is_only_a_note() {
    let env = TestEnv::open();
    env.creates_organisation("KGALE", "staging");
    for flag in ["--on-behalf-of", "--actor"] {
        let forged = [flag, "kagiso", "organisation", "suspend", "KGALE"];
        assert_eq!(env.types(&[&forged[..], &WHY].concat(), "").code, 0);
    }
    let lines = "SELECT login, actor, details ->> 'on_behalf_of' FROM audit_log ORDER BY id";
    let naledi = "test_operator|test_operator|naledi";
    let kagiso = "test_operator|test_operator|kagiso";
    assert_eq!(env.sql(lines), [naledi, kagiso, kagiso].join("\n"));
    let unnamed =
        run_unnamed(&env.url_as(OPERATOR), &[&["organisation", "readmit", "KGALE"], &WHY[..]].concat());
    assert_eq!(unnamed.code, 0, "{}", unnamed.stderr);
    assert!(env.sql(lines).ends_with("test_operator|test_operator|"), "nobody else is named");
}

#[test]
fn the_log_is_verified_up_to_its_head_and_against_a_stored_head() {
    let env = TestEnv::open();
    assert_eq!(env.shows(&["audit", "verify"]), serde_json::json!({ "lines": 0, "head": null }));
    assert_eq!(env.types(&["audit", "head"], "").stdout, "-\n");
    for code in ["KGALE", "PHAKA", "MOGO"] {
        env.creates_organisation(code, "staging");
    }
    let head = env.types(&["audit", "head"], "").stdout;
    let head = head.trim_end();
    assert!(head.starts_with("3:") && head.len() == 66, "{head}");
    assert_eq!(env.shows(&["audit", "verify"]), serde_json::json!({ "lines": 3, "head": head }));
    env.creates_organisation("LATER", "staging");
    let verified = env.types(&["audit", "verify", "--head", head], "");
    assert!(verified.stdout.starts_with("The audit log is intact: 4 lines."), "{verified:?}");

    let breaks = |sql: &str| {
        env.sql(&format!("SET session_replication_role = replica; {sql}"));
        let verified = env.types(&["audit", "verify", "--head", head], "");
        assert_eq!((verified.code, verified.stdout.as_str(), verified.stderr.lines().count()), (1, "", 1));
        verified.stderr
    };
    let cut = "CREATE TABLE kept AS SELECT * FROM audit_log; DELETE FROM audit_log WHERE id > 2;
               UPDATE audit_head SET (id, hash) = (SELECT id, hash FROM audit_log WHERE id = 2)";
    assert!(breaks(cut).contains("line 3 is not there with the hash that was kept"));
    let whole = env.types(&["audit", "verify"], "");
    assert_eq!(whole.code, 0, "only the stored head shows that lines were cut off");
    let middle = "INSERT INTO audit_log OVERRIDING SYSTEM VALUE SELECT * FROM kept WHERE id > 2;
                  UPDATE audit_head SET (id, hash) = (SELECT id, hash FROM kept WHERE id = 4);
                  DELETE FROM audit_log WHERE id = 2";
    assert!(breaks(middle).contains("a line before line 3 was removed"));
    let said = breaks(
        "INSERT INTO audit_log OVERRIDING SYSTEM VALUE SELECT * FROM kept WHERE id = 2; UPDATE audit_log SET actor = 'kagiso' WHERE id = 2",
    );
    assert!(said.contains("line 2 was changed after it was written"), "{said}");
    assert!(said.contains("VendgateInvariantBroken"), "{said}");
}

#[test]
fn a_malformed_head_is_refused_as_an_argument() {
    let env = TestEnv::open();
    let outcome = env.types(&["audit", "verify", "--head", "3:abc"], "");
    assert_eq!(outcome.code, 2, "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("the number of a line, a colon, and 64 hexadecimal digits"),
        "{}",
        outcome.stderr
    );
}
