//! Organisations, clients, secrets and users, as the prompt lets them in and keeps them out.

use serde_json::json;

use crate::office::{Office, WHY};

#[test]
fn an_organisation_is_let_in_kept_out_and_let_in_again() {
    let office = Office::open();
    office.lets_in("KGALE", "production");
    let shown = office.shows(&["organisation", "show", "KGALE"]);
    assert_eq!((&shown["environment"], &shown["status"]), (&json!("PRODUCTION"), &json!("ACTIVE")));
    assert_eq!(office.does(&["organisation", "suspend", "KGALE"])["status"], "SUSPENDED");
    assert_eq!(office.sql("SELECT status FROM organisations"), "SUSPENDED");
    assert_eq!(office.does(&["organisation", "readmit", "KGALE"])["status"], "ACTIVE");
    assert_eq!(office.shows(&["org", "list"]).as_array().unwrap().len(), 1);
}

#[test]
fn a_clients_secret_is_shown_once_with_a_warning_and_kept_only_as_a_hash() {
    let office = Office::open();
    office.lets_in("KGALE", "staging");
    let made =
        office.types(&[&["client", "create", "-o", "KGALE", "--name", "tills"][..], &WHY].concat(), "");
    assert_eq!((made.code, made.stderr.as_str()), (0, ""));
    assert!(made.stdout.contains("never again"), "{}", made.stdout);
    let secret = made.stdout.split_whitespace().find(|word| word.starts_with("vg_test_cs_")).unwrap();

    let hash = format!("SELECT count(*) FROM client_secrets WHERE secret_hash = sha256('{secret}')");
    assert_eq!(office.sql(&hash), "1");
    let listed = office.shows(&["client", "list", "-o", "KGALE"]);
    let client_id = listed[0]["client_id"].as_str().unwrap();
    let shown = office.types(&["client", "show", client_id], "");
    let audited = office.types(&["audit", "list"], "");
    for text in [&shown.stdout, &audited.stdout, &listed.to_string()] {
        assert!(!text.contains("vg_test_cs_"), "{text}");
    }
}

#[test]
fn a_rotated_secret_overlaps_with_the_old_one_and_a_revoked_one_ends_with_its_sessions() {
    let office = Office::open();
    office.lets_in("KGALE", "staging");
    let client = office.does(&["client", "create", "-o", "KGALE", "--name", "tills"]);
    let (client_id, old) = (client["client_id"].as_str().unwrap(), client["secret_id"].to_string());

    let rotated = office.does(&["secret", "rotate", client_id, "--overlap", "2h"]);
    let new = rotated["secret_id"].to_string();
    assert_eq!(rotated["old_secret_ids"].to_string(), format!("[{old}]"));
    let ends =
        "SELECT id, round(extract(epoch FROM expires_at - now()) / 3600) FROM client_secrets ORDER BY id";
    assert_eq!(office.sql(ends), format!("{old}|2\n{new}|"));

    office.does(&["secret", "rotate", client_id, "--overlap", "30m"]);
    let halves = "SELECT coalesce(round(extract(epoch FROM expires_at - now()) / 1800), 0)
                  FROM client_secrets ORDER BY id";
    assert_eq!(office.sql(halves), "1\n1\n0", "the old ones end sooner, the newest does not end");

    let seen = office.does(&["secret", "revoke", client_id, &old]);
    assert!(seen["secrets"][0]["revoked_at"].is_string(), "{seen}");
    assert!(seen["secrets"][1]["revoked_at"].is_null(), "{seen}");
    let again = office.is_refused(&["secret", "revoke", client_id, &old]);
    assert_eq!(again, format!("there is no live client secret {old}"));
    let strange = office.is_refused(&["secret", "revoke", client_id, "99"]);
    assert!(strange.starts_with(&format!("client {client_id} has no secret 99; ")), "{strange}");
}

#[test]
fn a_user_has_a_password_from_standard_input_or_one_that_is_made_and_shown_once() {
    let office = Office::open();
    office.lets_in("KGALE", "staging");
    let user = ["user", "create", "till", "-o", "KGALE", "--full-name", "Till One", "--role", "integrator"];
    let typed = [&["--json"], &user[..], &WHY, &["--password-stdin"]].concat();
    let short = office.types(&typed, "elevenchars\n");
    assert_eq!(short.code, 1);
    assert!(short.stderr.starts_with("vendctl: a password has 12 to 256 bytes; "), "{}", short.stderr);
    assert!(short.stderr.contains("--password-stdin"), "{}", short.stderr);
    let made = office.types(&typed, "correct horse battery\n");
    assert_eq!(made.code, 0, "{}", made.stderr);
    assert!(!made.stdout.contains("password") && !made.stdout.contains("horse"), "{}", made.stdout);

    let generated = office.does(&[
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
    assert_eq!(office.sql(hashes), "2");
    assert_eq!(office.shows(&["user", "list", "-o", "KGALE"])[1]["username"], "viewer");
}

#[test]
fn a_users_role_password_and_standing_can_be_changed() {
    let office = Office::open();
    office.lets_in("KGALE", "staging");
    office.does(&["client", "create", "-o", "KGALE", "--name", "tills"]);
    office.does(&[
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
    office.sql(session);
    let before = office.sql("SELECT password_hash FROM users");

    assert_eq!(office.does(&["user", "set-role", "till", "viewer", "-o", "KGALE"])["role"], "VIEWER");
    let replaced = office.does(&["user", "set-password", "till", "-o", "KGALE", "--generate-password"]);
    assert!(replaced["password"].is_string(), "{replaced}");
    assert_ne!(office.sql("SELECT password_hash FROM users"), before);
    assert_eq!(office.sql("SELECT revoked_because FROM token_families"), "PASSWORD_REPLACED");
    assert_eq!(office.does(&["user", "suspend", "till", "-o", "KGALE"])["status"], "SUSPENDED");
    assert_eq!(office.does(&["user", "readmit", "till", "-o", "KGALE"])["status"], "ACTIVE");
}
