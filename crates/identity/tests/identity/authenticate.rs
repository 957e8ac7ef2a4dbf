//! Authentication by access token, and its refusals.

use chrono::TimeDelta;
use identity::{AuthError, Party, Recalled, Status};
use test_kit::organisation::act;

use crate::office::Office;

#[tokio::test]
async fn what_is_no_good_token_has_no_caller() {
    let office = Office::open().await;
    let tokens = office.logs_in().await;
    let good = tokens.access_token.expose();
    let unknown = format!("vg_test_at_{}", "A".repeat(43));
    let live = good.replace("vg_test_", "vg_live_");
    let refresh = tokens.refresh_token.expose();
    let secret = office.client.secret.expose();
    for text in ["", "Bearer", &unknown, &live, refresh, secret, &format!("{good} "), &good[..50]] {
        let refused = office.identity.authenticate(text).await;
        assert!(matches!(refused, Err(AuthError::InvalidToken)), "{text}: {refused:?}");
    }
    assert!(office.knows(&tokens).await);
}

#[tokio::test]
async fn an_access_token_is_good_for_fifteen_minutes_remembered_or_not() {
    let office = Office::open().await;
    let tokens = office.logs_in().await;
    office.passes(TimeDelta::minutes(15) - TimeDelta::seconds(1));
    assert!(office.knows(&tokens).await);
    office.passes(TimeDelta::seconds(1));
    assert!(!office.knows(&tokens).await);
}

#[tokio::test]
async fn a_revocation_elsewhere_has_an_effect_after_five_seconds() {
    let office = Office::open().await;
    let tokens = office.logs_in().await;
    assert!(office.knows(&tokens).await);
    let elsewhere = "UPDATE token_families SET revoked_at = now(), revoked_because = 'SECRET_REVOKED'";
    office.database.run_sql(elsewhere).unwrap();

    office.passes(TimeDelta::milliseconds(4_999));
    assert!(office.knows(&tokens).await);
    office.passes(TimeDelta::milliseconds(1));
    assert!(!office.knows(&tokens).await);
}

#[tokio::test]
async fn a_token_that_was_refused_is_refused_for_a_minute_without_asking_the_database() {
    let office = Office::open().await;
    let (expired, revoked) = (office.logs_in().await, office.logs_in().await);
    let past =
        "UPDATE access_tokens SET created_at = '2020-01-01', expires_at = '2020-01-02' WHERE family_id = 1";
    office.database.run_sql(past).unwrap();
    let revoke =
        "UPDATE token_families SET revoked_at = now(), revoked_because = 'SECRET_REVOKED' WHERE id = 2";
    office.database.run_sql(revoke).unwrap();
    assert!(!office.knows(&expired).await && !office.knows(&revoked).await);

    // The service never does this. It would show whether the database was asked.
    office.database.run_sql("UPDATE access_tokens SET expires_at = '2099-01-01'").unwrap();
    office.database.run_sql("UPDATE token_families SET revoked_at = NULL, revoked_because = NULL").unwrap();
    office.passes(TimeDelta::seconds(59));
    for refused in [&expired, &revoked] {
        assert!(!office.knows(refused).await);
        assert!(matches!(office.identity.recall(refused.access_token.expose()), Recalled::Refused));
    }
    office.passes(TimeDelta::seconds(61));
    assert!(office.knows(&expired).await && office.knows(&revoked).await);
}

#[tokio::test]
async fn a_token_that_was_good_is_distinguished_from_one_that_was_never_seen() {
    let office = Office::open().await;
    let tokens = office.logs_in().await;
    let recalled = || office.identity.recall(tokens.access_token.expose());
    assert!(matches!(recalled(), Recalled::Unknown(_)), "it is looked up before it is believed");
    assert!(office.knows(&tokens).await);
    assert!(matches!(recalled(), Recalled::Caller(_)));
    office.passes(TimeDelta::seconds(5));
    assert!(matches!(recalled(), Recalled::Familiar(_)));
    office.passes(TimeDelta::minutes(15));
    assert!(matches!(recalled(), Recalled::Unknown(_)), "it has expired");
    assert!(!office.knows(&tokens).await);
    assert!(matches!(recalled(), Recalled::Refused));
}

#[tokio::test]
async fn a_suspended_organisation_is_told_so_and_a_suspended_client_or_user_is_not_known() {
    let office = Office::open().await;
    let tokens = office.logs_in().await;
    let caller = office.identity.authenticate(tokens.access_token.expose()).await.unwrap();
    let (organisation, client, user) = (caller.organisation.id, caller.client_id, caller.user.id);
    for party in [Party::Organisation(organisation), Party::Client(client), Party::User(user)] {
        office.onboarding.set_status(party, Status::Suspended, act()).await.unwrap();
        office.passes(TimeDelta::seconds(5));
        let refused = office.identity.authenticate(tokens.access_token.expose()).await;
        match party {
            Party::Organisation(_) => assert!(matches!(refused, Err(AuthError::OrganisationSuspended))),
            Party::Client(_) | Party::User(_) => assert!(matches!(refused, Err(AuthError::InvalidToken))),
        }
        office.onboarding.set_status(party, Status::Active, act()).await.unwrap();
        assert!(office.knows(&tokens).await, "a refusal is not remembered");
    }
}
