//! What is refused, and that the one line about it says what to do.

use std::fs;

use crate::office::{Office, WHY, run, run_bare};

#[test]
fn what_is_no_command_ends_with_2_and_names_the_argument() {
    let office = Office::open();
    for (command, named) in [
        ("organisation", "Usage"),
        ("organisation create KGALE --name X --environment staging", "--reason"),
        ("organisation create KG/ALE --name X --environment staging --reason x", "<CODE>"),
        ("organisation create KGALE --name X --environment moon --reason x", "--environment"),
        ("wallet top-up 1 1e3 --currency BWP --id A --reason x", "<AMOUNT>"),
        ("wallet top-up 1 1.00 --currency pula --id A --reason x", "--currency"),
        ("wallet top-up 1 1.00 --currency BWP --reason x", "--id"),
        ("account open -o KGALE --name X --currency BWP --handling mine --reason x", "--handling"),
        ("secret rotate vg_test_x --overlap soon --reason x", "--overlap"),
        ("secret rotate KGALE --reason x", "<CLIENT_ID>"),
        ("user create till -o KGALE --full-name T --role viewer --reason x", "--password-stdin"),
        ("offer set -o KGALE electricity BPC --currency BWP --fee-rate 1.5% --reason x", "--fee-rate"),
        ("audit list --since yesterday", "--since"),
        ("allow-list add -o KGALE --reason x", "<SUBSCRIBER>"),
    ] {
        let outcome = office.types(&command.split(' ').collect::<Vec<_>>(), "");
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{command}");
        assert!(outcome.stderr.contains(named), "{command}: {}", outcome.stderr);
    }
    assert_eq!(office.sql("SELECT count(*) FROM audit_log"), "0");
}

#[test]
fn the_widest_value_that_an_argument_takes_is_one_that_the_database_takes_too() {
    let office = Office::with_an_offer();
    let (name, label, sentence) = ("é".repeat(200), "é".repeat(100), "é".repeat(500));
    let (code, provider, meter) = ("K".repeat(64), "W".repeat(32), "9".repeat(40));
    let (pattern, email) = (format!("^{}$", "[0-9]".repeat(39)), format!("{}@b", "e".repeat(252)));
    let offer = format!("offer set -o KGALE water {provider} --currency BWP");
    for command in [
        format!("organisation create {code} --name {name} --environment production"),
        format!("client create -o KGALE --name {name}"),
        format!("provider declare {provider} --name {name}"),
        format!("product set water --min 40 --max 40 --pattern {pattern} --hint {sentence}"),
        format!("product set-text water fra --display-name {label} --label {label}"),
        format!("{offer} --fee 999999999999.99 --fee-rate 1.000000 --commission-rate 0.000001"),
        format!("{offer} --fee-floor 0 --fee-cap 0 --min 0.01 --max 0.01"),
        format!("{offer} --fee-floor 0 --fee-cap 999999999999.99 --max 999999999999.99"),
        format!("default-provider set -o KGALE water {provider}"),
        format!("allow-list add -o KGALE {meter} {meter}"),
        format!("account open -o KGALE --name {name} --currency XXX --rank -2147483648"),
        format!(
            "user create {name} -o KGALE --full-name {name} --role viewer --phone 123456789012345 --email {email} \
             --generate-password"
        ),
    ] {
        office.does(&command.split(' ').collect::<Vec<_>>());
    }
}

#[test]
fn what_is_not_there_or_taken_is_said_with_what_to_do() {
    let (office, wallet) = Office::with_a_wallet();
    let nowhere = office.is_refused(&["organisation", "suspend", "NOBODY"]);
    assert_eq!(nowhere, "there is no organisation NOBODY; `vendctl organisation list` shows all");
    let taken =
        office.is_refused(&["organisation", "create", "KGALE", "--name", "X", "--environment", "staging"]);
    assert_eq!(taken, "the CODE is taken; choose another one");
    let user = office.is_refused(&["user", "suspend", "till", "-o", "KGALE"]);
    assert!(user.starts_with("there is no user till of organisation KGALE; "), "{user}");
    let account = office.is_refused(&["account", "suspend", "99"]);
    assert_eq!(account, "there is no account 99; `vendctl account list -o CODE` shows an organisation's");
    let currency =
        office.is_refused(&["wallet", "top-up", &wallet, "1.00", "--currency", "ZAR", "--id", "A"]);
    assert_eq!(currency, format!("wallet {wallet} is one of BWP; nothing was posted"));
    let house = office.sql("SELECT min(id) FROM accounts WHERE house IS NOT NULL");
    let inward = office.is_refused(&["wallet", "top-up", &house, "1.00", "--currency", "BWP", "--id", "A"]);
    assert_eq!(inward, format!("there is no wallet {house}; nothing was posted"));
    let commission = ["account", "open", "-o", "KGALE", "--name", "X", "--currency", "BWP", "--category"];
    let second = office.is_refused(&[&commission[..], &["commission"]].concat());
    let advice = "open one of another --category";
    assert_eq!(second, format!("the organisation has a wallet for commission of that --currency; {advice}"));
}

#[test]
fn without_settings_it_says_which_one_is_missing_and_where_to_set_it() {
    let outcome = run_bare(&["organisation", "list"]);
    assert_eq!(outcome.code, 1);
    assert_eq!(
        outcome.stderr,
        "vendctl: the setting `operator.database_url` is missing; set it by VENDGATE__OPERATOR__DATABASE_URL in the \
         environment or as `database_url` under [operator] in a settings file (none was given)\n"
    );
}

#[test]
fn all_mistakes_of_its_settings_are_named_at_once() {
    let file = std::env::temp_dir().join(format!("vendctl-mistaken-{}.toml", std::process::id()));
    let sealing = "[sealing.current]\nid = 1\nkey = \"hunter2\"\n";
    std::fs::write(&file, format!("[operator]\ndatabase_url = \"hunter2\"\nactr = \"naledi\"\n{sealing}"))
        .unwrap();
    let outcome = run_bare(&["organisation", "list", "--settings", file.to_str().unwrap()]);
    std::fs::remove_file(&file).unwrap();
    assert_eq!((outcome.code, outcome.stderr.lines().count()), (1, 1), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("`operator.actr` is unknown: "), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("; `sealing` is wrong: "), "{}", outcome.stderr);
    assert!(!outcome.stderr.contains("hunter2"), "{}", outcome.stderr);
}

#[test]
fn settings_come_from_a_file_too_beside_those_of_other_programs() {
    let office = Office::open();
    let file = std::env::temp_dir().join(format!("vendctl-{}.toml", std::process::id()));
    let url = office.url_as("prompt_operator");
    let text = format!("[operator]\ndatabase_url = \"{url}\"\nactor = \"kagiso\"\n[http]\nlisten = \"x\"\n");
    fs::write(&file, text).unwrap();
    let path = file.to_str().unwrap();
    let listed = run_bare(&["organisation", "list", "--settings", path]);
    fs::remove_file(&file).unwrap();
    assert_eq!((listed.code, listed.stderr.as_str()), (0, ""));
}

#[test]
fn neither_the_owner_nor_a_serving_role_may_do_the_operators_work() {
    let office = Office::open();
    let create = ["organisation", "create", "KGALE", "--name", "X", "--environment", "staging"];
    let create = [&create[..], &WHY].concat();
    for url in [office.database.url(), office.url_as("prompt_server")] {
        let outcome = run(&url, &create, "");
        assert_eq!(outcome.code, 1, "{}", outcome.stderr);
        assert!(outcome.stderr.contains("member of vendgate_operator"), "{}", outcome.stderr);
        assert!(!outcome.stderr.contains("prompt@") && !outcome.stderr.contains("postgres://"));
    }
    assert_eq!(office.sql("SELECT count(*) FROM organisations"), "0");
}

#[test]
fn a_database_of_another_version_or_none_is_refused() {
    let office = Office::open();
    office.sql("INSERT INTO __diesel_schema_migrations VALUES ('99991231000000')");
    let newer = office.types(&["organisation", "list"], "");
    assert_eq!(newer.code, 1);
    assert!(newer.stderr.contains("the schema is at version 99991231000000"), "{}", newer.stderr);
    assert!(newer.stderr.contains("api-server migrate"), "{}", newer.stderr);

    let nobody = run("postgres://nobody:nothing@127.0.0.1:1/nowhere", &["organisation", "list"], "");
    assert_eq!(nobody.code, 1);
    assert!(nobody.stderr.contains("is operator.database_url right"), "{}", nobody.stderr);
}
