//! Errors: each is one line that says what to do.

use std::fs;

use test_kit::database::{OPERATOR, SERVER};

use crate::office::{TestEnv, WHY, run, run_bare};

#[test]
fn an_invalid_command_ends_with_2_and_names_the_argument() {
    let env = TestEnv::open();
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
        (
            "offer set -o KGALE electricity BPC --currency BWP --commission-rate 1 --reason x",
            "which is 100 %",
        ),
        ("audit list --since monday", "--since"),
        ("allow-list add -o KGALE --reason x", "<SUBSCRIBER>"),
    ] {
        let outcome = env.types(&command.split(' ').collect::<Vec<_>>(), "");
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{command}");
        assert!(outcome.stderr.contains(named), "{command}: {}", outcome.stderr);
    }
    assert_eq!(env.sql("SELECT count(*) FROM audit_log"), "0");
}

#[test]
fn the_database_takes_the_widest_value_that_an_argument_takes() {
    let env = TestEnv::with_an_offer();
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
        format!("{offer} --fee 999999999999.99 --fee-rate 0.999999 --commission-rate 0.000001"),
        format!("{offer} --fee-floor 0 --fee-cap 0 --min 0.01 --max 0.01"),
        format!("{offer} --fee-floor 0 --fee-cap 999999999999.99 --max 999999999999.99"),
        format!("default-provider set -o KGALE water {provider}"),
        format!("provider pause {provider} --product water --notice {sentence}"),
        format!("allow-list add -o KGALE {meter} {meter}"),
        format!("account open -o KGALE --name {name} --currency XXX --rank -2147483648"),
        format!(
            "user create {name} -o KGALE --full-name {name} --role viewer --phone 123456789012345 --email {email} \
             --generate-password"
        ),
    ] {
        env.does(&command.split(' ').collect::<Vec<_>>());
    }
}

#[test]
fn the_error_about_an_absent_or_taken_name_says_what_to_do() {
    let (env, wallet) = TestEnv::with_a_wallet();
    let nowhere = env.is_refused(&["organisation", "suspend", "NOBODY"]);
    assert_eq!(nowhere, "there is no organisation NOBODY; `vendctl organisation list` shows all");
    let taken =
        env.is_refused(&["organisation", "create", "KGALE", "--name", "X", "--environment", "staging"]);
    assert_eq!(taken, "the CODE is taken; choose another one");
    let user = env.is_refused(&["user", "suspend", "till", "-o", "KGALE"]);
    assert!(user.starts_with("there is no user till of organisation KGALE; "), "{user}");
    let account = env.is_refused(&["account", "suspend", "99"]);
    assert_eq!(account, "there is no account 99; `vendctl account list -o CODE` shows an organisation's");
    let currency = env.is_refused(&["wallet", "top-up", &wallet, "1.00", "--currency", "ZAR", "--id", "A"]);
    assert_eq!(currency, format!("wallet {wallet} is one of BWP; nothing was posted"));
    let system_account = env.sql("SELECT min(id) FROM accounts WHERE house IS NOT NULL");
    let inward =
        env.is_refused(&["wallet", "top-up", &system_account, "1.00", "--currency", "BWP", "--id", "A"]);
    assert_eq!(inward, format!("there is no wallet {system_account}; nothing was posted"));
    let commission = ["account", "open", "-o", "KGALE", "--name", "X", "--currency", "BWP", "--category"];
    let second = env.is_refused(&[&commission[..], &["commission"]].concat());
    let advice = "open one of another --category";
    assert_eq!(second, format!("the organisation has a wallet for commission of that --currency; {advice}"));
}

#[test]
fn a_missing_setting_is_named_with_where_to_set_it() {
    let outcome = run_bare(&["organisation", "list"]);
    assert_eq!(outcome.code, 1);
    assert_eq!(
        outcome.stderr,
        "vendctl: the setting `operator.database_url` is missing; set it by VENDGATE__OPERATOR__DATABASE_URL in the \
         environment or as `database_url` under [operator] in a settings file (none was given)\n"
    );
}

#[test]
fn all_mistakes_in_the_settings_of_vendctl_are_named_at_once() {
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
fn vendctl_reads_a_settings_file_that_other_programs_share() {
    let env = TestEnv::open();
    let file = std::env::temp_dir().join(format!("vendctl-{}.toml", std::process::id()));
    let url = env.url_as(OPERATOR);
    let text = format!("[operator]\ndatabase_url = \"{url}\"\nactor = \"kagiso\"\n[http]\nlisten = \"x\"\n");
    fs::write(&file, text).unwrap();
    let path = file.to_str().unwrap();
    let listed = run_bare(&["organisation", "list", "--settings", path]);
    fs::remove_file(&file).unwrap();
    assert_eq!((listed.code, listed.stderr.as_str()), (0, ""));
}

#[test]
fn neither_the_owner_nor_a_servers_role_may_run_a_command() {
    let env = TestEnv::open();
    let create = ["organisation", "create", "KGALE", "--name", "X", "--environment", "staging"];
    let create = [&create[..], &WHY].concat();
    for url in [env.database.url(), env.url_as(SERVER)] {
        let outcome = run(&url, &create, "");
        assert_eq!(outcome.code, 1, "{}", outcome.stderr);
        assert!(outcome.stderr.contains("a member of vendgate_"), "{}", outcome.stderr);
        assert!(!outcome.stderr.contains("test_server@") && !outcome.stderr.contains("postgres://"));
    }
    assert_eq!(env.sql("SELECT count(*) FROM organisations"), "0");
}

#[test]
fn a_database_that_does_not_serve_it_lacks_a_migration_or_is_not_there_is_refused() {
    let env = TestEnv::open();
    env.sql("UPDATE served_programs SET oldest_schema = '99991231000000'");
    let newer = env.types(&["organisation", "list"], "");
    assert_eq!(newer.code, 1);
    assert!(
        newer.stderr.contains("the database serves programs of schema 99991231000000"),
        "{}",
        newer.stderr
    );
    assert!(newer.stderr.contains("use the vendctl of the servers' release"), "{}", newer.stderr);

    env.sql("DELETE FROM __diesel_schema_migrations WHERE version > '20261122000014'");
    let older = env.types(&["organisation", "list"], "");
    assert_eq!(older.code, 1);
    assert!(older.stderr.contains("the schema is at version 20261122000013"), "{}", older.stderr);
    assert!(older.stderr.contains("run api-server migrate"), "{}", older.stderr);

    let unreachable = run("postgres://nobody:nothing@127.0.0.1:1/nowhere", &["organisation", "list"], "");
    assert_eq!(unreachable.code, 1);
    assert!(unreachable.stderr.contains("is operator.database_url right"), "{}", unreachable.stderr);
}
