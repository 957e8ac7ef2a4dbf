//! Letting in and keeping out, and what is written down about it.

use identity::{Environment, OnboardingError, Party, Status, UserDetails};
use store::StoreError;

use crate::office::{Office, act, till};

#[tokio::test]
async fn every_deed_leaves_a_line_that_says_who_what_and_why() {
    let office = Office::open().await;
    let (desk, client) = (&office.onboarding, &office.client);
    let added = desk.add_secret(&client.client_id, None, act()).await.unwrap();
    desk.expire_secret(client.secret_id, office.passes(chrono::TimeDelta::zero()), act()).await.unwrap();
    desk.revoke_secret(added.secret_id, act()).await.unwrap();
    desk.set_status(Party::Client(client.id), Status::Suspended, act()).await.unwrap();

    let log = "SELECT action, subject FROM audit_log WHERE actor = 'naledi' AND reason = 'contract 17'
               AND organisation_id = 1 ORDER BY id";
    let expected = "organisation.created|organisation:1\n\
                    client.created|client:1\n\
                    client.secret_added|client:1\n\
                    user.created|user:1\n\
                    client.secret_added|client:1\n\
                    client.secret_expired|client:1\n\
                    client.secret_revoked|client:1\n\
                    client.status_set|client:1";
    assert_eq!(office.database.run_sql(log).unwrap(), expected);
}

#[tokio::test]
async fn what_failed_is_not_recorded_as_done() {
    let office = Office::open().await;
    let (desk, before) = (&office.onboarding, office.count("audit_log"));
    let taken = desk.create_organisation("KGALE", "Other", Environment::Staging, act()).await.unwrap_err();
    assert!(matches!(&taken, OnboardingError::Store(StoreError::Duplicate { constraint })
        if constraint == "organisations_code_key"));
    let twice = desk.create_user("KGALE", till(), act()).await.unwrap_err();
    assert!(matches!(twice, OnboardingError::Store(StoreError::Duplicate { .. })));
    let malformed = desk.create_organisation("a b", "Other", Environment::Staging, act()).await.unwrap_err();
    assert!(matches!(malformed, OnboardingError::Store(StoreError::Rejected { .. })));
    let nobody = desk.set_status(Party::User(99), Status::Suspended, act()).await.unwrap_err();
    assert!(matches!(nobody, OnboardingError::Store(StoreError::Absent { what: "user", .. })));
    let nameless = desk.create_client("KGALE", "", act()).await.unwrap_err();
    assert!(matches!(nameless, OnboardingError::Store(StoreError::Rejected { .. })));
    assert_eq!(office.count("audit_log"), before);
    assert_eq!(office.count("oauth_clients"), 1);
}

#[tokio::test]
async fn what_is_not_there_or_not_safe_is_refused_in_words() {
    let office = Office::open().await;
    let nowhere = office.onboarding.create_client("NOBODY", "tills", act()).await.unwrap_err();
    assert_eq!(nowhere.to_string(), "there is no organisation NOBODY");
    for password in ["elevenchars", &"x".repeat(257)] {
        let user = UserDetails { username: "other".into(), password: password.into(), ..till() };
        let refused = office.onboarding.create_user("KGALE", user, act()).await.unwrap_err();
        assert_eq!(refused.to_string(), "a password has 12 to 256 bytes");
    }
}

#[tokio::test]
async fn what_may_be_seen_of_a_client_is_all_but_its_secrets() {
    let office = Office::open().await;
    let added = office.onboarding.add_secret(&office.client.client_id, None, act()).await.unwrap();
    let seen = office.onboarding.client(&office.client.client_id).await.unwrap();
    let ids: Vec<_> = seen.secrets.iter().map(|secret| secret.id).collect();
    assert_eq!((seen.id, ids), (office.client.id, vec![office.client.secret_id, added.secret_id]));
    for shown in [format!("{seen:?}"), format!("{:?}", office.client), format!("{added:?}")] {
        assert!(!shown.contains(&office.client.secret.expose()[11..]), "{shown}");
        assert!(!shown.contains(&added.secret.expose()[11..]), "{shown}");
    }
}

#[tokio::test]
async fn the_database_itself_keeps_organisations_apart() {
    let office = Office::open().await;
    let desk = &office.onboarding;
    desk.create_organisation("PHAKA", "Phakalane Fuel", Environment::Staging, act()).await.unwrap();
    desk.create_user("PHAKA", till(), act()).await.unwrap();
    for (organisation, client, user) in [(1, 1, 2), (2, 1, 2), (2, 1, 1)] {
        let mixed = format!(
            "INSERT INTO token_families
                (organisation_id, oauth_client_id, user_id, client_secret_id, created_at, expires_at)
             VALUES ({organisation}, {client}, {user}, 1, now(), now() + interval '1 day')"
        );
        let refused = office.database.run_sql(&mixed).unwrap_err();
        assert!(format!("{refused:?}").contains("foreign key"), "{refused:?}");
    }
}
