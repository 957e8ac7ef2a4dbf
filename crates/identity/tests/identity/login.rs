//! Logins, and their refusals.

use std::time::Duration;

use chrono::TimeDelta;
use clock::{Clock, SystemClock};
use futures_util::future::join_all;
use identity::{Environment, LoginCredentials, LoginError, Party, Permission, Role, Status, UserDetails};
use test_kit::organisation::{PASSWORD, act, identity_settings};

use crate::office::{Office, refresh_by, till, wrong};

#[tokio::test]
async fn the_right_credentials_are_exchanged_for_tokens_that_stand_for_their_user() {
    let office = Office::open().await;
    let tokens = office.logs_in().await;
    assert_eq!((tokens.access_in, tokens.scope), (900, "read write"));
    assert!(tokens.access_token.expose().starts_with("vg_test_at_"));
    assert!(tokens.refresh_token.expose().starts_with("vg_test_rt_"));

    let caller = office.identity.authenticate(tokens.access_token.expose()).await.unwrap();
    assert_eq!(caller.client_id, office.client.id);
    let organisation = &caller.organisation;
    assert_eq!((organisation.code.as_str(), organisation.name.as_str()), ("KGALE", "Kgale Stores"));
    assert_eq!(organisation.environment, Environment::Staging);
    let user = &caller.user;
    assert_eq!((user.username.as_str(), user.full_name.as_str()), ("till", "Till One"));
    assert_eq!(user.phone_number.as_deref(), Some("26771000000"));
    assert!(caller.may(Permission::PurchasesConfirm));
}

#[tokio::test]
async fn a_viewer_reads_and_validates_and_nothing_else() {
    let office = Office::open().await;
    let viewer = UserDetails { username: "auditor".into(), role: Role::Viewer, ..till() };
    office.onboarding.create_user("KGALE", viewer, act()).await.unwrap();
    let credentials = LoginCredentials { username: "auditor".into(), ..office.credentials() };
    let tokens = office.identity.login(credentials).await.unwrap();
    assert_eq!(tokens.scope, "read");
    let caller = office.identity.authenticate(tokens.access_token.expose()).await.unwrap();
    assert!(caller.may(Permission::PurchasesValidate) && !caller.may(Permission::PurchasesConfirm));
}

/// Wrong credentials, each with the name of what is wrong.
async fn wrongs(office: &Office) -> Vec<(&'static str, LoginCredentials)> {
    let service = &office.onboarding;
    service.create_organisation("PHAKA", "Phakalane Fuel", Environment::Staging, act()).await.unwrap();
    let other = service.create_client("PHAKA", "pumps", act()).await.unwrap();
    let pump = UserDetails { username: "pump".into(), ..till() };
    service.create_user("PHAKA", pump, act()).await.unwrap();
    let right = || office.credentials();
    let live = office.client.secret.expose().replace("vg_test_", "vg_live_");
    let mut bent = office.client.secret.expose().to_owned();
    bent.replace_range(20..21, if bent.as_bytes()[20] == b'x' { "y" } else { "x" });
    vec![
        ("unknown client", LoginCredentials { client_id: "vg_test_0123456789abcdef".into(), ..right() }),
        ("no client", LoginCredentials { client_id: String::new(), ..right() }),
        ("another's client", LoginCredentials { client_id: other.client_id.clone(), ..right() }),
        ("wrong secret", LoginCredentials { client_secret: bent.into(), ..right() }),
        ("no secret", LoginCredentials { client_secret: "".into(), ..right() }),
        ("another's secret", LoginCredentials { client_secret: other.secret.expose().into(), ..right() }),
        ("other environment's secret", LoginCredentials { client_secret: live.into(), ..right() }),
        ("unknown organisation", LoginCredentials { organisation_code: "KGALE2".into(), ..right() }),
        ("another organisation", LoginCredentials { organisation_code: "PHAKA".into(), ..right() }),
        ("organisation in small letters", LoginCredentials { organisation_code: "kgale".into(), ..right() }),
        ("unknown user", LoginCredentials { username: "tilt".into(), ..right() }),
        ("another's user", LoginCredentials { username: "pump".into(), ..right() }),
        ("wrong password", LoginCredentials { password: "correct horse batterx".into(), ..right() }),
        ("no password", LoginCredentials { password: "".into(), ..right() }),
        ("too long a password", LoginCredentials { password: PASSWORD.repeat(1_000).into(), ..right() }),
        ("a byte that no text has", LoginCredentials { username: "till\0".into(), ..right() }),
    ]
}

#[tokio::test]
async fn whatever_is_wrong_with_credentials_the_refusal_is_the_same() {
    let office = Office::open().await;
    for (what, credentials) in wrongs(&office).await {
        let refused = office.identity.login(credentials).await;
        assert!(wrong(&refused), "{what}: {refused:?}");
        assert_eq!(refused.unwrap_err().to_string(), "the credentials are not good", "{what}");
    }
    assert_eq!(office.count("token_families"), 0);
    office.logs_in().await;
}

#[tokio::test]
async fn every_refusal_waits_for_the_same_floor() {
    let office = Office::open().await;
    let mut slow = identity_settings(Environment::Staging);
    slow.refusal_floor_ms = 300;
    let (identity, watch) = (office.deployment(&slow), SystemClock);
    for (what, credentials) in wrongs(&office).await.into_iter().step_by(3) {
        let asked = watch.monotonic();
        assert!(wrong(&identity.login(credentials).await), "{what}");
        let taken = watch.monotonic().elapsed_since(asked);
        assert!(taken >= Duration::from_millis(300), "{what}: {taken:?}");
    }
}

#[tokio::test]
async fn a_caller_without_a_client_secret_causes_no_password_hash() {
    let office = Office::open().await;
    let mut narrow = identity_settings(Environment::Staging);
    (narrow.password_checks_at_once, narrow.password_queue_max) = (1, 0);
    let identity = office.deployment(&narrow);
    let unproven =
        ["unknown client", "wrong secret", "no secret", "another's secret", "other environment's secret"];
    let wrongs = wrongs(&office).await;
    let flood = wrongs.iter().filter(|(what, _)| unproven.contains(what)).cycle().take(50);
    let outcomes = flood.map(|(_, credentials)| identity.login(credentials.clone()));
    let (outcomes, right) = tokio::join!(join_all(outcomes), identity.login(office.credentials()));
    for outcome in outcomes {
        assert!(wrong(&outcome), "refused without the only place in the queue: {outcome:?}");
    }
    assert!(right.is_ok(), "a login among the refused ones: {right:?}");

    let proven = office.credentials();
    let several = join_all((0..5).map(|_| identity.login(proven.clone()))).await;
    let busy = several.iter().filter(|outcome| matches!(outcome, Err(LoginError::Busy(None)))).count();
    assert!(busy > 0, "a proven client waits in a queue, and this one is full");
}

#[tokio::test]
async fn credentials_of_one_environment_are_refused_in_the_other() {
    let office = Office::open().await;
    let service = &office.onboarding;
    service.create_organisation("KGALE-LIVE", "Kgale Stores", Environment::Production, act()).await.unwrap();
    let client = service.create_client("KGALE-LIVE", "tills", act()).await.unwrap();
    service.create_user("KGALE-LIVE", till(), act()).await.unwrap();
    assert!(client.client_id.starts_with("vg_live_"));
    assert!(client.secret.expose().starts_with("vg_live_cs_"));
    let live = LoginCredentials {
        client_id: client.client_id,
        client_secret: client.secret.expose().into(),
        organisation_code: "KGALE-LIVE".into(),
        ..office.credentials()
    };
    let production = office.deployment(&identity_settings(Environment::Production));

    assert!(wrong(&office.identity.login(live.clone()).await));
    assert!(wrong(&production.login(office.credentials()).await));
    let tokens = production.login(live).await.unwrap();
    assert!(tokens.access_token.expose().starts_with("vg_live_at_"));
    assert!(!office.knows(&tokens).await);
}

#[tokio::test]
async fn a_secret_is_replaced_without_an_interruption() {
    let office = Office::open().await;
    let before = office.logs_in().await;
    let (service, client_id) = (&office.onboarding, &office.client.client_id);
    let rotated = service.rotate_secret(client_id, Duration::from_hours(72), act()).await.unwrap();
    assert_eq!(rotated.ending, [office.client.secret_id]);
    assert_eq!(rotated.old_end_at, office.passes(TimeDelta::zero()) + TimeDelta::hours(72));
    let new = LoginCredentials { client_secret: rotated.secret.expose().into(), ..office.credentials() };
    office.identity.login(new.clone()).await.unwrap();

    office.passes(TimeDelta::hours(72) - TimeDelta::seconds(1));
    office.logs_in().await;
    office.passes(TimeDelta::seconds(1));
    assert!(wrong(&office.identity.login(office.credentials()).await));
    office.identity.login(new.clone()).await.unwrap();

    let with_new = refresh_by(&office.client.client_id, rotated.secret.expose(), &before);
    office.identity.refresh(with_new).await.expect("a session of the old secret continues with the new one");
}

#[tokio::test]
async fn a_revoked_secret_ends_with_every_token_that_was_obtained_with_it() {
    let office = Office::open().await;
    let (service, client_id) = (&office.onboarding, &office.client.client_id);
    let rotated = service.rotate_secret(client_id, Duration::from_hours(1), act()).await.unwrap();
    let new = LoginCredentials { client_secret: rotated.secret.expose().into(), ..office.credentials() };
    let (stolen, own) = (office.logs_in().await, office.identity.login(new).await.unwrap());

    office.onboarding.revoke_secret(office.client.secret_id, act()).await.unwrap();
    assert!(wrong(&office.identity.login(office.credentials()).await));
    assert!(!office.knows(&stolen).await);
    assert!(office.knows(&own).await);
    let with_new = refresh_by(client_id, rotated.secret.expose(), &stolen);
    assert!(wrong(&office.identity.refresh(with_new).await));

    let twice = office.onboarding.revoke_secret(office.client.secret_id, act()).await;
    assert!(twice.is_err(), "a revoked secret cannot be revoked again");
}

#[tokio::test]
async fn a_suspended_party_cannot_log_in_until_it_is_readmitted() {
    let office = Office::open().await;
    let tokens = office.logs_in().await;
    let caller = office.identity.authenticate(tokens.access_token.expose()).await.unwrap();
    let (organisation, client, user) = (caller.organisation.id, caller.client_id, caller.user.id);
    for party in [Party::Organisation(organisation), Party::Client(client), Party::User(user)] {
        office.onboarding.set_status(party, Status::Suspended, act()).await.unwrap();
        let refused = office.identity.login(office.credentials()).await;
        match party {
            Party::Organisation(_) => {
                assert!(matches!(refused, Err(LoginError::OrganisationSuspended)), "{refused:?}");
                let wrong_too = LoginCredentials { password: "wrong".into(), ..office.credentials() };
                assert!(wrong(&office.identity.login(wrong_too).await), "only a right login is told");
            }
            Party::Client(_) | Party::User(_) => assert!(wrong(&refused), "{party:?}: {refused:?}"),
        }
        office.onboarding.set_status(party, Status::Active, act()).await.unwrap();
        office.logs_in().await;
    }
}

#[tokio::test]
async fn nothing_that_could_be_used_to_get_in_is_stored() {
    let office = Office::open().await;
    let first = office.logs_in().await;
    let next = office.refreshes(&first).await.unwrap();
    let tables = "SELECT query_to_xml('SELECT * FROM ' || tablename, true, false, '')
                  FROM pg_tables WHERE schemaname = 'public'";
    let everything = office.database.run_sql(tables).unwrap();
    assert!(everything.contains("Kgale Stores"));
    let secret = office.client.secret.expose();
    for used in [&first, &next] {
        for credential in [used.access_token.expose(), used.refresh_token.expose(), secret, PASSWORD] {
            let body = credential.rsplit_once("t_").map_or(credential, |(_, body)| body);
            assert!(!everything.contains(body));
        }
    }
}
