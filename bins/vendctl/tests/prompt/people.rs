//! Organisations, clients, secrets and users: creating, changing and suspending them.

use serde_json::json;

use crate::office::{TestEnv, WHY};

#[test]
fn every_login_of_an_operator_is_listed_with_its_roles_and_no_login_of_a_server() {
    let env = TestEnv::open().with_people();
    let listed = env.shows(&["operators", "list"]);
    let of = |login: &str| listed.as_array().unwrap().iter().find(|line| line["login"] == login);
    for (login, roles) in [
        ("sethunya", json!(["support"])),
        ("thabo", json!(["finance"])),
        ("test_operator", json!(["support", "finance", "administrator"])),
    ] {
        assert_eq!(of(login).map(|line| &line["roles"]), Some(&roles), "{login}: {listed}");
    }
    for other in ["test_server", "test_worker"] {
        assert_eq!(of(other), None, "{listed}");
    }
}

#[test]
fn an_organisation_is_created_suspended_and_readmitted() {
    let env = TestEnv::open();
    env.creates_organisation("KGALE", "production");
    let shown = env.shows(&["organisation", "show", "KGALE"]);
    assert_eq!((&shown["environment"], &shown["status"]), (&json!("PRODUCTION"), &json!("ACTIVE")));
    assert_eq!(env.does(&["organisation", "suspend", "KGALE"])["status"], "SUSPENDED");
    assert_eq!(env.sql("SELECT status FROM organisations"), "SUSPENDED");
    assert_eq!(env.does(&["organisation", "readmit", "KGALE"])["status"], "ACTIVE");
    assert_eq!(env.shows(&["org", "list"]).as_array().unwrap().len(), 1);
}

#[test]
fn the_lines_at_the_end_of_receipts_are_set_and_taken_away() {
    let env = TestEnv::open();
    env.creates_organisation("KGALE", "production");
    let set = ["organisation", "set-receipt-footer", "KGALE"];
    let shown = env.does(&[&set[..], &["--line", "Plot 7, Gaborone", "--line", "Tel. 71 234 567"]].concat());
    assert_eq!(shown["receipt_footer"], "Plot 7, Gaborone\nTel. 71 234 567");
    let five = ["--line", "1"].repeat(5);
    assert!(env.is_refused(&[&set[..], &five].concat()).contains("at most 4 lines"));
    assert_eq!(env.does(&[&set[..], &["--none"]].concat())["receipt_footer"], json!(null));
    assert_eq!(env.sql("SELECT receipt_footer IS NULL FROM organisations"), "t");
}

#[test]
fn a_clients_secret_is_shown_once_and_stored_only_as_a_hash() {
    let env = TestEnv::open();
    env.creates_organisation("KGALE", "staging");
    let made = env.types(&[&["client", "create", "-o", "KGALE", "--name", "tills"][..], &WHY].concat(), "");
    assert_eq!((made.code, made.stderr.as_str()), (0, ""));
    assert!(made.stdout.contains("never shown again"), "{}", made.stdout);
    let secret = made.stdout.split_whitespace().find(|word| word.starts_with("vg_test_cs_")).unwrap();

    let hash = format!("SELECT count(*) FROM client_secrets WHERE secret_hash = sha256('{secret}')");
    assert_eq!(env.sql(&hash), "1");
    let listed = env.shows(&["client", "list", "-o", "KGALE"]);
    let client_id = listed[0]["client_id"].as_str().unwrap();
    let shown = env.types(&["client", "show", client_id], "");
    let audited = env.types(&["audit", "list"], "");
    for text in [&shown.stdout, &audited.stdout, &listed.to_string()] {
        assert!(!text.contains("vg_test_cs_"), "{text}");
    }
}

#[test]
fn a_rotated_secret_overlaps_with_the_old_one_and_a_revoked_one_ends_at_once() {
    let env = TestEnv::open();
    env.creates_organisation("KGALE", "staging");
    let client = env.does(&["client", "create", "-o", "KGALE", "--name", "tills"]);
    let (client_id, old) = (client["client_id"].as_str().unwrap(), client["secret_id"].to_string());

    let rotated = env.does(&["secret", "rotate", client_id, "--overlap", "2h"]);
    let new = rotated["secret_id"].to_string();
    assert_eq!(rotated["old_secret_ids"].to_string(), format!("[{old}]"));
    let ends =
        "SELECT id, round(extract(epoch FROM expires_at - now()) / 3600) FROM client_secrets ORDER BY id";
    assert_eq!(env.sql(ends), format!("{old}|2\n{new}|"));

    env.does(&["secret", "rotate", client_id, "--overlap", "30m"]);
    let halves = "SELECT coalesce(round(extract(epoch FROM expires_at - now()) / 1800), 0)
                  FROM client_secrets ORDER BY id";
    assert_eq!(env.sql(halves), "1\n1\n0", "the old ones end sooner, the newest does not end");

    let seen = env.does(&["secret", "revoke", client_id, &old]);
    assert!(seen["secrets"][0]["revoked_at"].is_string(), "{seen}");
    assert!(seen["secrets"][1]["revoked_at"].is_null(), "{seen}");
    let again = env.is_refused(&["secret", "revoke", client_id, &old]);
    assert_eq!(again, format!("there is no live client secret {old}"));
    let strange = env.is_refused(&["secret", "revoke", client_id, "99"]);
    assert!(strange.starts_with(&format!("client {client_id} has no secret 99; ")), "{strange}");
}

#[test]
fn a_password_is_read_from_standard_input_or_generated_and_shown_once() {
    let env = TestEnv::open();
    env.creates_organisation("KGALE", "staging");
    let user = ["user", "create", "till", "-o", "KGALE", "--full-name", "Till One", "--role", "integrator"];
    let typed = [&["--json"], &user[..], &WHY, &["--password-stdin"]].concat();
    let short = env.types(&typed, "elevenchars\n");
    assert_eq!(short.code, 1);
    assert!(short.stderr.starts_with("vendctl: a password has 12 to 256 bytes; "), "{}", short.stderr);
    assert!(short.stderr.contains("--password-stdin"), "{}", short.stderr);
    let made = env.types(&typed, "correct horse battery\n");
    assert_eq!(made.code, 0, "{}", made.stderr);
    assert!(!made.stdout.contains("password") && !made.stdout.contains("horse"), "{}", made.stdout);

    let generated = env.does(&[
        "user",
        "create",
        "viewer",
        "-o",
        "KGALE",
        "--full-name",
        "V",
        "--role",
        "viewer",
        "--generate-password",
    ]);
    assert_eq!(generated["password"].as_str().unwrap().len(), 24);
    let hashes = "SELECT count(*) FROM users WHERE password_hash LIKE '$argon2id$%'";
    assert_eq!(env.sql(hashes), "2");
    assert_eq!(env.shows(&["user", "list", "-o", "KGALE"])[1]["username"], "viewer");
}

#[test]
fn a_users_role_password_and_status_can_be_changed() {
    let env = TestEnv::open();
    env.creates_organisation("KGALE", "staging");
    env.does(&["client", "create", "-o", "KGALE", "--name", "tills"]);
    env.does(&[
        "user",
        "create",
        "till",
        "-o",
        "KGALE",
        "--full-name",
        "T",
        "--role",
        "integrator",
        "--generate-password",
    ]);
    let session = "INSERT INTO token_families
            (organisation_id, oauth_client_id, user_id, client_secret_id, created_at, expires_at)
        VALUES (1, 1, 1, 1, now(), now() + interval '1 day')";
    env.sql(session);
    let before = env.sql("SELECT password_hash FROM users");

    assert_eq!(env.does(&["user", "set-role", "till", "viewer", "-o", "KGALE"])["role"], "VIEWER");
    let replaced = env.does(&["user", "set-password", "till", "-o", "KGALE", "--generate-password"]);
    assert!(replaced["password"].is_string(), "{replaced}");
    assert_ne!(env.sql("SELECT password_hash FROM users"), before);
    assert_eq!(env.sql("SELECT revoked_because FROM token_families"), "PASSWORD_REPLACED");
    assert_eq!(env.does(&["user", "suspend", "till", "-o", "KGALE"])["status"], "SUSPENDED");
    assert_eq!(env.does(&["user", "readmit", "till", "-o", "KGALE"])["status"], "ACTIVE");
}

#[test]
fn a_rehearsal_shows_what_would_be_there_and_keeps_neither_it_nor_a_secret() {
    let env = TestEnv::open();
    env.creates_organisation("KGALE", "staging");
    let before = env.sql("SELECT id FROM audit_head");
    let rehearsed = |words: &[&str]| {
        let outcome = env.types(&[words, &["--dry-run"], &WHY].concat(), "");
        assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{words:?}");
        assert!(
            outcome.stdout.contains("This was a rehearsal. Nothing of it was kept."),
            "{}",
            outcome.stdout
        );
        outcome.stdout
    };
    let created =
        rehearsed(&["organisation", "create", "PHAKA", "--name", "Phaka", "--environment", "production"]);
    assert!(created.contains("PHAKA"), "{created}");
    let client = rehearsed(&["client", "create", "-o", "KGALE", "--name", "tills"]);
    assert!(client.contains("none in a rehearsal") && !client.contains("vgs_"), "{client}");
    let suspended = rehearsed(&["organisation", "suspend", "KGALE"]);
    assert!(suspended.contains("SUSPENDED"), "{suspended}");

    let twice = ["organisation", "create", "KGALE", "--name", "K", "--environment", "staging"];
    let refused = env.is_refused(&[&twice[..], &["--dry-run"]].concat());
    assert_eq!(refused, env.is_refused(&twice), "it is refused as the act is");
    assert_eq!(env.sql("SELECT id FROM audit_head"), before);
    assert_eq!(env.sql("SELECT string_agg(code || ' ' || status, ',') FROM organisations"), "KGALE ACTIVE");
    assert_eq!(env.sql("SELECT count(*) FROM oauth_clients"), "0");
}
