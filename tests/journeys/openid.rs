//! Operators who sign in to the console with an account at an OpenID provider: who they are then, and who they are not.

mod office;

use std::{fs, process::Stdio};

use reqwest::{Url, header::SET_COOKIE};
use serde_json::{Value, json};
use test_kit::openid_provider::{CLIENT_ID, CLIENT_SECRET, Signer};

use crate::console::{Browser, Console};
use office::{AtProvider, Office, comes_back, town};

/// Makes other claims of the right ones.
type Change = Box<dyn FnOnce(&mut Value)>;

#[tokio::test]
async fn a_person_signs_in_with_the_account_that_the_person_has_added() {
    let office = Office::open();
    town().at_the_prompt("naledi").adds(&office, "account-17");
    let anyone = Browser { console: &office.console, cookie: String::new() };
    let signed_out = anyone.opens("/").await;
    assert_eq!(signed_out.status, 401);
    for way in ["href=\"/sign-in/openid\"", "vendctl console link"] {
        assert!(signed_out.text.contains(way), "{}", signed_out.text);
    }
    let answered = office.signs_in("account-17").await;
    answered.is("naledi");
    let browser = Browser { console: &office.console, cookie: answered.session.unwrap() };
    assert!(browser.opens("/").await.text.contains("naledi (support, finance, administrator)"));
    // What is done then is done on a connection of this login, which the server knows by the console's certificate.
    let connected = town().asks(
        "SELECT DISTINCT ssl, client_dn FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
         WHERE usename = 'naledi' AND application_name = 'console'",
    );
    assert_eq!(connected, "t|/CN=vendgate-console");
    let declare = ["provider", "declare", "OPENID", "--name", "Openid", "--reason", "contract 17"];
    town().at_the_prompt("lesego").types(&declare);
    let fields = [
        ("product", ""),
        ("from", ""),
        ("until", ""),
        ("notice", ""),
        ("reason", "their mail"),
        ("step", "do"),
    ];
    assert_eq!(browser.posts("/providers/OPENID/pause", &fields[..5]).await.status, 200);
    assert_eq!(browser.posts("/providers/OPENID/pause", &fields).await.location, "/providers/OPENID");
    let audited =
        "SELECT login, actor FROM audit_log WHERE action = 'provider.paused' AND subject = 'provider:OPENID'";
    assert_eq!(town().asks(audited), "naledi|naledi");
    office.told_nothing_secret();
}

#[tokio::test]
async fn a_role_that_is_taken_away_holds_at_once_after_a_sign_in_with_an_account() {
    let office = Office::open();
    town().at_the_prompt("kagiso").adds(&office, "of-kagiso");
    let answered = office.signs_in("of-kagiso").await;
    answered.is("kagiso");
    let browser = Browser { console: &office.console, cookie: answered.session.unwrap() };
    assert!(!browser.opens("/review").await.text.contains("class=\"refused\""));
    town().asks("REVOKE vendgate_support FROM kagiso");
    let refused = browser.opens("/review").await.text;
    assert!(refused.contains("class=\"refused\"") && refused.contains("permission denied"), "{refused}");
    office.signs_in("of-kagiso").await.is_refused(422, "the login kagiso is no operator");
}

#[tokio::test]
async fn nobody_says_of_another_login_which_account_it_is() {
    let office = Office::open();
    let (thabo, lesego) = (town().at_the_prompt("thabo"), town().at_the_prompt("lesego"));
    // Acting for another person is a note, and makes the account no other's.
    let add = format!("--on-behalf-of thabo console identity add {} claimed", office.provider.issuer);
    let listed = lesego.does(&add);
    let mine = listed.as_array().unwrap().iter().find(|one| one["subject"] == "claimed").unwrap();
    assert_eq!(mine["login"], "lesego");
    office.signs_in("claimed").await.is("lesego");
    let audited =
        "SELECT login, subject, details ->> 'subject' FROM audit_log WHERE action = 'console_identity.added'
        AND details ->> 'subject' = 'claimed'";
    assert_eq!(town().asks(audited), "lesego|login:lesego|claimed");
    let refused = thabo.is_refused(&format!("console identity add {} claimed", office.provider.issuer));
    assert!(refused.contains("this identity was added before"), "{refused}");
    // An administrator has no other way to the table than these commands.
    let writes = "SELECT bool_or(has_any_column_privilege('lesego', 'console_identities', p))
        FROM unnest(ARRAY['INSERT', 'UPDATE']) AS p";
    let whole =
        "SELECT has_table_privilege('lesego', 'console_identities', 'INSERT, UPDATE, DELETE, TRUNCATE')";
    assert_eq!((town().asks(writes), town().asks(whole)), ("f".to_owned(), "f".to_owned()));
    let console = "SELECT has_function_privilege('console_login', 'add_console_identity(text, text, text, text)', 'EXECUTE')";
    assert_eq!(town().asks(console), "f");

    let remove = |account: &str| format!("console identity remove {} {account}", office.provider.issuer);
    let refused = thabo.is_refused(&remove("claimed"));
    assert!(refused.contains("there is no such identity of yours"), "{refused}");
    thabo.adds(&office, "of-thabo");
    office.signs_in("of-thabo").await.is("thabo");
    lesego.does(&remove("of-thabo"));
    office.signs_in("of-thabo").await.is_refused(403, "No operator has added this account");
}

#[tokio::test]
async fn an_account_that_nobody_has_added_is_told_how_to_add_it() {
    let office = Office::open();
    let refused = office.signs_in("new o'clerk").await;
    let issuer = &office.provider.issuer;
    let command = format!("vendctl console identity add --reason 'my account' '{issuer}' 'new o'\\''clerk'");
    refused.is_refused(403, &command);
    office.told("no operator has added the account");
}

#[tokio::test]
async fn a_login_that_the_server_does_not_let_the_console_be_is_told_so() {
    let office = Office::open();
    town().at_the_prompt("mpho").adds(&office, "of-mpho");
    let refused = office.signs_in("of-mpho").await;
    refused.is_refused(422, "the database does not let the console be mpho");
    assert!(refused.text.contains("pg_ident.conf"), "{}", refused.text);
}

#[tokio::test]
async fn an_id_token_that_does_not_prove_the_person_signs_nobody_in() {
    let office = Office::open();
    town().at_the_prompt("sethunya").adds(&office, "of-sethunya");
    let now = fs::metadata(&office.log).unwrap().modified().unwrap();
    let now = now.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let set = |name: &'static str, value: Value| move |claims: &mut Value| claims[name] = value;
    let mut wrong: Vec<(Signer, Change, &str)> = vec![
        (Signer::Provider, Box::new(set("nonce", json!("of another sign-in"))), "it is of another sign-in"),
        (Signer::Provider, Box::new(set("nonce", Value::Null)), "it is of another sign-in"),
        (Signer::Provider, Box::new(set("aud", json!("another-client"))), "it is for another client"),
        (
            Signer::Provider,
            Box::new(set("aud", json!([CLIENT_ID, "another-client"]))),
            "it is for another client",
        ),
        (Signer::Provider, Box::new(set("azp", json!("another-client"))), "it is for another client"),
        (Signer::Provider, Box::new(set("iss", json!("https://id.example"))), "it is of another issuer"),
        (Signer::Provider, Box::new(set("exp", json!(now - 1))), "it has expired"),
        (
            Signer::Provider,
            Box::new(set("iat", json!(now + 3600))),
            "it has expired or is issued in the future",
        ),
    ];
    for signer in [Signer::Forger, Signer::Client, Signer::Nobody] {
        wrong.push((signer, Box::new(|_claims| {}), "its signature is not of the provider"));
    }
    wrong.push((Signer::WithoutToken, Box::new(|_claims| {}), "there is none"));
    for (signer, change, cause) in wrong {
        let browser = office.begins().await;
        let query = office.provider.signs_in(&browser.address, "of-sethunya", signer, change);
        let refused = browser.comes_back(&query).await;
        refused.is_refused(403, "does not prove who you are");
        office.told(cause);
        assert!(!refused.text.contains("eyJ"), "{}", refused.text);
    }
    office.told_nothing_secret();
    office.signs_in("of-sethunya").await.is("sethunya");
}

#[tokio::test]
async fn a_sign_in_is_finished_once_and_by_the_browser_that_has_begun_it() {
    let office = Office::open();
    town().at_the_prompt("dineo").adds(&office, "of-dineo");
    let (own, other) = (office.begins().await, office.begins().await);
    let query = own.signs_in("of-dineo");
    let not_begun = "This sign-in was not begun in this browser";
    // Another person's browser, and one that has begun nothing.
    for cookie in [other.cookie.as_str(), "", "sign-in=0"] {
        comes_back(&office, cookie, &query).await.is_refused(400, not_begun);
    }
    let without_state = query.split_once('&').unwrap().1;
    own.comes_back(without_state).await.is_refused(400, not_begun);
    own.comes_back(&query).await.is("dineo");
    own.comes_back(&query).await.is_refused(400, not_begun);

    let state = |browser: &AtProvider<'_>| {
        let address = Url::parse(&browser.address).unwrap();
        address.query_pairs().find(|(name, _)| name == "state").unwrap().1.into_owned()
    };
    let declined = format!("state={}&error=access_denied&error_description=eyJ", state(&other));
    other.comes_back(&declined).await.is_refused(403, "has not signed you in");
    office.told("access_denied");
    let mixed_up = office.begins().await;
    let query = format!("state={}&code=x&iss=https://id.example", state(&mixed_up));
    mixed_up.comes_back(&query).await.is_refused(403, "does not prove who you are");
    // A code that was never issued, and one that was exchanged.
    let strange = office.begins().await;
    let query = format!("state={}&code=x", state(&strange));
    strange.comes_back(&query).await.is_refused(502, "cannot be used now");
    office.told("it does not accept the code");

    let led_here = office.get("/sign-in/openid").header("Sec-Fetch-Site", "cross-site").send().await.unwrap();
    assert_eq!((led_here.status().as_u16(), led_here.headers().get(SET_COOKIE)), (401, None));
    office.told_nothing_secret();
}

#[tokio::test]
async fn a_console_beside_the_database_is_known_by_its_user_of_the_machine() {
    let database = &town().server.database;
    let socket = town().asks("SHOW unix_socket_directories").replace('/', "%2F");
    let url = database.url_as("console_login", "console_login").replace("127.0.0.1", &socket);
    let office = Office::connecting_to(&url);
    town().at_the_prompt("pule").adds(&office, "of-pule");
    office.signs_in("of-pule").await.is("pule");
}

#[tokio::test]
async fn without_a_provider_there_is_no_such_way_and_one_that_is_away_is_told_apart() {
    let plain = Console::with(&[("CONSOLE__DATABASE_URL", &town().url())], Stdio::inherit());
    let anyone = Browser { console: &plain, cookie: String::new() };
    for path in ["/sign-in/openid", "/sign-in/openid/done?state=a&code=b"] {
        assert_eq!(anyone.opens(path).await.status, 404, "{path}");
    }
    assert!(!anyone.opens("/").await.text.contains("/sign-in/openid"));

    let settings = [
        ("CONSOLE__DATABASE_URL", town().url()),
        ("OPENID__ISSUER", "http://127.0.0.1:1".to_owned()),
        ("OPENID__CLIENT_ID", CLIENT_ID.to_owned()),
        ("OPENID__CLIENT_SECRET", CLIENT_SECRET.to_owned()),
    ];
    let settings = settings.each_ref().map(|(name, value)| (*name, value.as_str()));
    let console = Console::with(&settings, Stdio::inherit());
    let away = Browser { console: &console, cookie: String::new() }.opens("/sign-in/openid").await;
    assert_eq!(away.status, 502, "{}", away.text);
    assert!(
        away.text.contains("cannot be used now") && away.text.contains("vendctl console link"),
        "{}",
        away.text
    );
}
