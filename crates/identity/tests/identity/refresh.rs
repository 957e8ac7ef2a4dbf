//! Refresh: once, again if the answer was lost, and never if two parties have the token.

use chrono::TimeDelta;
use identity::{Environment, LoginError, Party, Status};
use test_kit::organisation::{act, identity_settings};

use crate::office::{Office, refresh_by, texts, wrong};

#[tokio::test]
async fn a_refresh_token_is_exchanged_for_the_next_pair() {
    let office = Office::open().await;
    let first = office.logs_in().await;
    office.passes(TimeDelta::minutes(14));
    let next = office.refreshes(&first).await.unwrap();
    assert_eq!((next.access_in, next.scope), (900, "read write"));
    assert_ne!(texts(&next).0, texts(&first).0);
    assert_ne!(texts(&next).1, texts(&first).1);
    assert!(office.knows(&first).await && office.knows(&next).await);
    office.passes(TimeDelta::minutes(1));
    assert!(!office.knows(&first).await && office.knows(&next).await);
}

#[tokio::test]
async fn a_client_that_lost_the_answer_gets_the_same_pair_again_for_a_minute() {
    let office = Office::open().await;
    let first = office.logs_in().await;
    let next = office.refreshes(&first).await.unwrap();
    for seconds in [0, 30, 30] {
        office.passes(TimeDelta::seconds(seconds));
        let again = office.refreshes(&first).await.unwrap();
        assert_eq!(texts(&again), texts(&next));
    }
    assert_eq!(office.refreshes(&first).await.unwrap().access_in, 840, "the same token, a minute older");
    assert_eq!(office.count("refresh_tokens"), 2);
    office.refreshes(&next).await.unwrap();
}

#[tokio::test]
async fn two_workers_that_refresh_at_once_get_the_same_pair() {
    let office = Office::open().await;
    let mut tokens = office.logs_in().await;
    // The first round also makes the second connection; the others are a race.
    for _ in 0..5 {
        let (one, other) = tokio::join!(office.refreshes(&tokens), office.refreshes(&tokens));
        let (one, other) = (one.unwrap(), other.unwrap());
        assert_eq!(texts(&one), texts(&other));
        tokens = one;
    }
}

#[tokio::test]
async fn a_token_that_comes_back_too_late_revokes_everything_from_the_same_login() {
    let office = Office::open().await;
    let (first, apart) = (office.logs_in().await, office.logs_in().await);
    let next = office.refreshes(&first).await.unwrap();
    office.passes(TimeDelta::seconds(61));
    assert!(office.knows(&first).await && office.knows(&next).await);

    assert!(wrong(&office.refreshes(&first).await));
    assert!(!office.knows(&first).await && !office.knows(&next).await, "and it shows at once");
    assert!(wrong(&office.refreshes(&next).await));
    assert!(office.knows(&apart).await);
    office.refreshes(&apart).await.unwrap();
    let audit = "SELECT actor, action FROM audit_log WHERE action LIKE 'token%'";
    assert_eq!(office.database.run_sql(audit).unwrap(), "identity|token_family.revoked");
}

#[tokio::test]
async fn a_token_that_comes_back_after_its_successor_revokes_even_within_the_minute() {
    let office = Office::open().await;
    let first = office.logs_in().await;
    let second = office.refreshes(&first).await.unwrap();
    let third = office.refreshes(&second).await.unwrap();
    assert!(wrong(&office.refreshes(&first).await));
    assert!(wrong(&office.refreshes(&third).await));
    assert!(!office.knows(&third).await);
}

#[tokio::test]
async fn a_caller_without_the_clients_secret_cannot_use_or_revoke_a_token() {
    let office = Office::open().await;
    let first = office.logs_in().await;
    let next = office.refreshes(&first).await.unwrap();
    office.passes(TimeDelta::minutes(5));
    let other = office.onboarding.create_client("KGALE", "thief", act()).await.unwrap();
    let (own_id, own_secret) = (&office.client.client_id, office.client.secret.expose());
    for (client_id, secret) in [
        (other.client_id.as_str(), other.secret.expose()),
        (&other.client_id, own_secret),
        (own_id, other.secret.expose()),
        (own_id, "vg_test_cs_guessed"),
        ("vg_test_\0", own_secret),
    ] {
        assert!(wrong(&office.identity.refresh(refresh_by(client_id, secret, &first)).await), "{client_id}");
    }
    let mut as_access = office.refresh_with(&first);
    as_access.refresh_token = first.access_token.expose().into();
    assert!(wrong(&office.identity.refresh(as_access).await));

    assert!(office.knows(&next).await);
    office.refreshes(&next).await.unwrap();
}

#[tokio::test]
async fn a_live_access_token_of_the_same_session_proves_the_client() {
    let office = Office::open().await;
    let first = office.logs_in().await;
    let next = office.refreshes_by_token(&first, &first, None).await.unwrap();
    assert!(office.knows(&next).await);
    let own = Some(office.client.client_id.as_str());
    let third = office.refreshes_by_token(&next, &first, own).await.unwrap();
    let again = office.refreshes_by_token(&next, &third, own).await.unwrap();
    assert_eq!(texts(&again), texts(&third), "an answer that was lost");
    office.refreshes(&third).await.unwrap();
}

#[tokio::test]
async fn an_access_token_that_has_ended_or_is_of_another_session_proves_nothing() {
    let office = Office::open().await;
    let (first, other) = (office.logs_in().await, office.logs_in().await);
    assert!(wrong(&office.refreshes_by_token(&first, &other, None).await), "another session");
    for client_id in ["vg_test_nobody", "vg_test_\0", ""] {
        let refused = office.refreshes_by_token(&first, &first, Some(client_id)).await;
        assert!(wrong(&refused), "{client_id:?} is not the session's client");
    }
    office.passes(TimeDelta::minutes(15));
    assert!(wrong(&office.refreshes_by_token(&first, &first, None).await), "expired");
    assert!(wrong(&office.refreshes_by_token(&other, &first, None).await), "expired, and another session");
    let next = office.refreshes(&first).await.unwrap();
    office
        .database
        .run_sql("UPDATE token_families SET revoked_at = now(), revoked_because = 'SECRET_REVOKED'")
        .unwrap();
    assert!(wrong(&office.refreshes_by_token(&next, &next, None).await), "revoked");
}

#[tokio::test]
async fn a_token_that_comes_back_too_late_ends_the_session_with_any_proof() {
    let office = Office::open().await;
    let first = office.logs_in().await;
    let next = office.refreshes_by_token(&first, &first, None).await.unwrap();
    office.passes(TimeDelta::seconds(61));
    assert!(wrong(&office.refreshes_by_token(&first, &next, None).await));
    assert!(!office.knows(&next).await);
    let audit = "SELECT details->>'client_id' FROM audit_log WHERE action = 'token_family.revoked'";
    assert_eq!(office.database.run_sql(audit).unwrap(), office.client.client_id);
}

#[tokio::test]
async fn a_refresh_token_that_lies_unused_for_a_week_is_gone() {
    let office = Office::open().await;
    let (first, other) = (office.logs_in().await, office.logs_in().await);
    office.passes(TimeDelta::days(7) - TimeDelta::seconds(1));
    office.refreshes(&first).await.unwrap();
    office.passes(TimeDelta::seconds(1));
    assert!(wrong(&office.refreshes(&other).await));
}

#[tokio::test]
async fn nothing_outlives_its_login_by_more_than_thirty_days() {
    let office = Office::open().await;
    let mut tokens = office.logs_in().await;
    for _ in 0..4 {
        office.passes(TimeDelta::days(6));
        tokens = office.refreshes(&tokens).await.unwrap();
    }
    office.passes(TimeDelta::days(6) - TimeDelta::minutes(5));
    tokens = office.refreshes(&tokens).await.unwrap();
    assert_eq!(tokens.access_in, 300);
    office.passes(TimeDelta::minutes(5));
    assert!(!office.knows(&tokens).await);
    assert!(wrong(&office.refreshes(&tokens).await));
}

#[tokio::test]
async fn a_changed_server_key_refuses_a_repetition_and_revokes_nothing() {
    let office = Office::open().await;
    let first = office.logs_in().await;
    let next = office.refreshes(&first).await.unwrap();
    let mut rekeyed = identity_settings(Environment::Staging);
    rekeyed.refresh_key = "b2".repeat(32).into();
    let rekeyed = office.deployment(&rekeyed);
    assert!(wrong(&rekeyed.refresh(office.refresh_with(&first)).await));
    rekeyed.refresh(office.refresh_with(&next)).await.unwrap();
}

#[tokio::test]
async fn a_suspended_party_cannot_refresh_until_it_is_readmitted() {
    let office = Office::open().await;
    let mut tokens = office.logs_in().await;
    let caller = office.identity.authenticate(tokens.access_token.expose()).await.unwrap();
    let (organisation, client, user) = (caller.organisation.id, caller.client_id, caller.user.id);
    for party in [Party::Organisation(organisation), Party::Client(client), Party::User(user)] {
        office.onboarding.set_status(party, Status::Suspended, act()).await.unwrap();
        let refused = office.refreshes(&tokens).await;
        match party {
            Party::Organisation(_) => assert!(matches!(refused, Err(LoginError::OrganisationSuspended))),
            Party::Client(_) | Party::User(_) => assert!(wrong(&refused), "{party:?}"),
        }
        office.onboarding.set_status(party, Status::Active, act()).await.unwrap();
        tokens = office.refreshes(&tokens).await.unwrap();
    }
}
