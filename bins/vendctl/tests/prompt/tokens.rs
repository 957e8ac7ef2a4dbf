//! A customer has lost the message and calls: who may, is shown the token and reads it aloud.

use serde_json::{Value, json};
use test_kit::database::add_logins_with;

use crate::{
    office::{TestEnv, WHY, run_in_env},
    open_purchase::{SEALING_KEY, TOKEN},
};

/// People of support who may be shown tokens. Each is used by one test: showings are counted by the login.
const READERS: [(&str, &str); 3] = [
    ("tebogo", "vendgate_support, vendgate_token_reader"),
    ("amantle", "vendgate_support, vendgate_token_reader"),
    ("onkabetse", "vendgate_token_reader"),
];

impl TestEnv {
    /// A sold purchase of electricity with these tokens, and its number.
    fn sells_electricity(&self, token: &str) -> String {
        let purchase = self.inserts_purchase_in_review("ELECTRICITY", "04257670465");
        let id = purchase.as_str();
        let vended =
            [id, "--as", "vended", "--provider-transaction", id, "--units", "45.2 kWh", "--token-stdin"];
        assert_eq!(self.confirms_vend(&vended, token).code, 0);
        purchase
    }

    fn reads_token(&self, person: &str, purchase: &str, per_day: &str) -> Result<Value, String> {
        let url = self.url_as(person);
        let environment = [
            ("VENDGATE__OPERATOR__DATABASE_URL", url.as_str()),
            ("VENDGATE__OPERATOR__TOKENS_PER_DAY", per_day),
            ("VENDGATE__SEALING__CURRENT__ID", "1"),
            ("VENDGATE__SEALING__CURRENT__KEY", SEALING_KEY),
        ];
        let command = [&["--json", "purchases", "token", purchase], &WHY[..]].concat();
        let outcome = run_in_env(environment, &command, "");
        if outcome.code == 0 {
            assert_eq!(outcome.stderr, "");
            return Ok(serde_json::from_str(&outcome.stdout).unwrap());
        }
        assert_eq!((outcome.code, outcome.stdout.as_str()), (1, ""));
        Err(outcome.stderr)
    }
}

#[test]
fn a_token_reader_is_shown_the_token_and_the_log_says_why_and_never_which() {
    let (env, _) = TestEnv::with_a_till();
    add_logins_with(&env.database, &READERS);
    let change = "KeyChange Token1: 5019 3837 1880 9804 5115|Credit Token: ";
    let purchase = env.sells_electricity(&format!("{change}{TOKEN}"));
    let shown = env.reads_token("tebogo", &purchase, "20").unwrap();
    assert_eq!(
        shown,
        json!({
            "purchase": purchase.parse::<i64>().unwrap(), "product": "ELECTRICITY", "subscriber": "04257670465",
            "units": "45.2 kWh", "remaining_today": 19, "tokens": [
                { "description": "KeyChange Token1", "token": "5019 3837 1880 9804 5115" },
                { "description": "Credit Token", "token": TOKEN },
            ],
        })
    );
    let line = "SELECT login, actor, subject, reason, details FROM audit_log WHERE action = 'token.shown'";
    let told = format!(r#"tebogo|tebogo|purchase:{purchase}|contract 17|{{"of_this_day": 1}}"#);
    assert_eq!(env.sql(line), told);
    let log = env.sql("SELECT string_agg(l::text, ' ') FROM audit_log l");
    for digits in ["08086259498974263587", TOKEN, "50193837188098045115"] {
        assert!(!log.contains(digits), "{log}");
    }
    let story = env.shows(&["purchases", "show", &purchase]);
    assert_eq!(story["audit"].as_array().unwrap().len(), 2, "the history has the showing: {story}");
}

#[test]
fn tokens_are_shown_to_readers_only_with_the_key_and_a_few_times_a_day() {
    let (env, _) = TestEnv::with_a_till();
    let env = env.with_people();
    add_logins_with(&env.database, &READERS);
    let purchase = env.sells_electricity(TOKEN);
    let refused = |person: &str, per_day: &str| env.reads_token(person, &purchase, per_day).unwrap_err();
    for person in ["sethunya", "lesego"] {
        let said = refused(person, "20");
        assert!(said.contains(&format!("GRANT vendgate_token_reader TO {person}.")), "{said}");
    }
    assert!(refused("onkabetse", "20").contains("must name the login of an operator"));
    let without_key = env.types_as("amantle", &["purchases", "token", &purchase], true);
    assert!(without_key.stderr.contains("[sealing] section"), "{}", without_key.stderr);
    assert!(refused("amantle", "0").contains("shown 0 tokens within a day"));
    assert_eq!(env.sql("SELECT count(*) FROM audit_log WHERE action = 'token.shown'"), "0");

    assert_eq!(env.reads_token("amantle", &purchase, "2").unwrap()["remaining_today"], 1);
    assert_eq!(env.reads_token("amantle", &purchase, "2").unwrap()["remaining_today"], 0);
    assert!(refused("amantle", "2").contains("you were shown 2 tokens within a day"));
    env.sql("UPDATE token_showings SET at = at - interval '1 day'");
    assert_eq!(env.reads_token("amantle", &purchase, "1").unwrap()["remaining_today"], 0);
}

#[test]
fn what_has_no_token_says_so() {
    let (env, _) = TestEnv::with_a_till();
    add_logins_with(&env.database, &READERS);
    let refused = |purchase: &str| env.reads_token("tebogo", purchase, "20").unwrap_err();
    let open = env.inserts_purchase_in_review("ELECTRICITY", "04257670466");
    assert!(refused(&open).contains("is REVIEW, so nothing is known to be vended"));
    let airtime = env.inserts_purchase_in_review("AIRTIME", "26771234567");
    env.does(&["purchases", "resolve", &airtime, "--as", "vended", "--provider-transaction", "1"]);
    assert!(refused(&airtime).contains("has no token: a vend of AIRTIME came without one"));
    let sold = env.sells_electricity(TOKEN);
    env.sql(&format!(
        "SET session_replication_role = replica;
         UPDATE purchases SET sealed_token = NULL, token_key_id = NULL, sealed_values_erased_at = now() WHERE id = {sold}"
    ));
    assert!(refused(&sold).contains("was erased; no program has it any more"));
    assert!(refused("4711").contains("there is no purchase 4711"));
    assert_eq!(env.sql("SELECT count(*) FROM audit_log WHERE action = 'token.shown'"), "0");
}
