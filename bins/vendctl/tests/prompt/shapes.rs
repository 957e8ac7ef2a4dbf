//! What scripts and people rely on: the names of JSON fields, exit codes and help texts.

use std::{fs, path::Path};

use serde_json::Value;

use crate::office::{TestEnv, run_bare};

/// The field names of the JSON that a command prints; of the first element if it is a list.
pub fn fields(value: &Value) -> String {
    let first = value.as_array().map_or(value, |list| &list[0]);
    first.as_object().unwrap().keys().map(String::as_str).collect::<Vec<_>>().join(" ")
}

pub fn sorted(names: &str) -> String {
    let mut names: Vec<&str> = names.split(' ').collect();
    names.sort_unstable();
    names.join(" ")
}

#[test]
fn no_table_has_a_time_in_utc_and_each_table_with_times_names_their_zone() {
    let (env, wallet) = TestEnv::with_a_till();
    let purchase = env.inserts_purchase_in_review("AIRTIME", "26771234567");
    env.confirms_vend(&[&purchase, "--as", "vended", "--provider-transaction", "R-1"], "");
    env.inserts_late_vend(&purchase);
    env.inserts_purchase_in_review("AIRTIME", "26771234567");
    env.does(&["wallet", "top-up", &wallet, "1.00", "--currency", "BWP", "--id", "A"]);
    env.does(&["approvals", "require", "top-up"]);
    env.does(&["wallet", "top-up", &wallet, "2.00", "--currency", "BWP", "--id", "B"]);
    for command in [
        "organisation list",
        "client list -o KGALE",
        "user list -o KGALE",
        "account list -o KGALE",
        &format!("wallet statement {wallet}"),
        "purchases list",
        "purchases search 26771234567",
        &format!("purchases show {purchase}"),
        "incidents list",
        "outbox list",
        "approvals list",
        "audit list",
    ] {
        let table = env.types(&command.split(' ').collect::<Vec<_>>(), "").stdout;
        let mut words = table.split_whitespace().map(|word| word.trim_end_matches('.'));
        let utc = words.find(|word| word.starts_with("20") && word.ends_with('Z'));
        assert_eq!(utc, None, "{command}: {table}");
        assert!(table.ends_with("\nTimes are local: Africa/Gaborone.\n"), "{command}: {table}");
        assert_eq!(table.matches("Africa/Gaborone").count(), 1, "{command}: {table}");
    }
}

#[test]
fn the_json_fields_of_every_command_have_stable_names() {
    let env = TestEnv::with_an_offer();
    let wallet = env.opens_wallet("KGALE");
    let client = env.does(&["client", "create", "-o", "KGALE", "--name", "tills"]);
    let client_id = client["client_id"].as_str().unwrap();
    let till = "user create till -o KGALE --full-name T --role viewer --generate-password";
    let user = env.does(&till.split(' ').collect::<Vec<_>>());
    let paid = env.does(&["wallet", "top-up", &wallet, "1.00", "--currency", "BWP", "--id", "A"]);
    let rotated = env.does(&["secret", "rotate", client_id]);
    let purchase = env.inserts_purchase_in_review("AIRTIME", "26771234567");
    env.confirms_vend(&[&purchase, "--as", "vended", "--provider-transaction", "R-1"], "");
    env.inserts_late_vend(&purchase);
    let secrets = &env.shows(&["client", "show", client_id])["secrets"];
    let shows = |command: &str| env.shows(&command.split(' ').collect::<Vec<_>>());
    for (shown, names) in [
        (&shows("organisation show KGALE"), "id code name environment status created_at receipt_footer"),
        (&client, "id client_id secret_id client_secret"),
        (&rotated, "client_id secret_id client_secret old_secret_ids old_secrets_end_at"),
        (&shows("client list -o KGALE"), "id client_id name status created_at secrets"),
        (secrets, "id created_at expires_at revoked_at"),
        (&user, "id username full_name role status phone_number email created_at password"),
        (&shows("user list -o KGALE"), "id username full_name role status phone_number email created_at"),
        (&shows("role list"), "role scope permissions"),
        (
            &shows("account list -o KGALE"),
            "id name category currency status posted held available handling retries rank low_balance created_at",
        ),
        (&paid, "entry account reference amount posted_at posted_before balance available"),
        (
            &shows(&format!("wallet statement {wallet}")),
            "entry posted_at kind amount balance counterpart purchase reference reverses reversed_by reason",
        ),
        (&shows("product list"), "product length_min length_max pattern hint texts"),
        (
            &shows("provider list"),
            "code name retries repeat_is_safe remembers_refusals not_found_counts settles_within_s worker_slots pauses breaker floats unavailable",
        ),
        (&shows("default-provider show -o KGALE"), "product provider"),
        (&shows("audit list"), "id at login actor action organisation subject reason details"),
        (&shows("audit verify"), "lines head"),
        (&shows("audit head"), "head"),
        (
            &shows("purchases list"),
            "id reference state organisation product provider subscriber total handling attempt created_at due_at \
             external_reference request_id age_s waiting_request",
        ),
        (
            &shows(&format!("purchases show {purchase}")),
            "id reference state organisation organisation_name client_id username account source_channel source_tag \
             language product provider subscriber subscriber_details beneficiary_phone_number entry charge net total \
             commission external_reference request_id comment created_at handling repeat_is_safe remembers_refusals \
             not_found_counts settles_within_s fence lease_until due_at attempt copies last_sent_at window_closes_at ended_at has_token units \
             provider_transaction archive open_request failure attempts events replies entries incidents messages audit advice",
        ),
        (
            &shows("incidents list"),
            "id kind purchase organisation provider at provider_transaction has_token suspense closed_at closed_by \
             closed_because",
        ),
        (
            &shows("outbox list"),
            "purchase kind recipient channel written_at due_at attempts given_up_at given_up_because \
             first_written_at earlier_given_up_at earlier_given_up_because",
        ),
    ] {
        assert_eq!(sorted(&fields(shown)), sorted(names));
    }
}

#[test]
fn a_table_has_a_heading_and_a_line_for_each_element() {
    let env = TestEnv::open();
    env.creates_organisation("KGALE", "staging");
    let shown = env.types(&["organisation", "list"], "").stdout;
    let mut lines = shown.lines();
    let words = |line: Option<&str>| line.unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(words(lines.next()), "ID CODE NAME ENVIRONMENT STATUS CREATED AT RECEIPT FOOTER");
    assert!(words(lines.next()).starts_with("1 KGALE Kgale Stores STAGING ACTIVE 20"), "{shown}");
    assert_eq!([lines.next(), lines.next()], [Some(""), Some("Times are local: Africa/Gaborone.")]);
    assert_eq!(lines.next(), None);
}

#[test]
fn roles_are_listed_with_their_permissions() {
    let roles = TestEnv::open().shows(&["role", "list"]);
    assert_eq!(roles[0]["role"], "INTEGRATOR");
    assert_eq!(roles[1]["permissions"][2], "purchases.validate");
}

#[test]
fn help_and_completions_need_neither_settings_nor_a_database() {
    let help = run_bare(&["--help"]);
    assert_eq!(help.code, 0);
    assert!(help.stdout.contains("Exit codes: 0 done"), "{}", help.stdout);
    assert_eq!(run_bare(&["wallet", "top-up", "--help"]).code, 0);
    let script = run_bare(&["completions", "bash"]);
    assert_eq!((script.code, script.stderr.as_str()), (0, ""));
    assert!(script.stdout.contains("complete -F _vendctl"), "{}", script.stdout);
}

#[test]
fn manual_pages_need_neither_settings_nor_a_database() {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("man");
    fs::create_dir_all(&place).unwrap();
    let written = run_bare(&["man-pages", place.to_str().unwrap()]);
    assert_eq!((written.code, written.stderr.as_str()), (0, ""));
    for (page, content) in [("vendctl.1", "organisation"), ("vendctl-wallet-top-up.1", "currency")] {
        assert!(fs::read_to_string(place.join(page)).unwrap().contains(content), "{page}");
    }
}

#[test]
fn a_directory_for_manual_pages_that_does_not_exist_is_named() {
    let refused = run_bare(&["man-pages", "/nowhere/man"]);
    assert_eq!(refused.code, 1);
    let said = "vendctl: the manual pages could not be written to /nowhere/man; name a directory that exists";
    assert!(refused.stderr.starts_with(said), "{}", refused.stderr);
}
