//! Registration and suspension, and their audit log.

use std::time::Duration;

use database::DatabaseError;
use identity::{Environment, LoginCredentials, OnboardingError, Party, Role, Status, UserDetails};
use test_kit::organisation::act;

use crate::office::{Office, till, wrong};

#[tokio::test]
async fn every_action_has_an_audit_line_with_actor_subject_and_reason() {
    let office = Office::open().await;
    let (service, client) = (&office.onboarding, &office.client);
    let rotated = service.rotate_secret(&client.client_id, Duration::ZERO, act()).await.unwrap();
    service.revoke_secret(rotated.secret_id, act()).await.unwrap();
    service.set_status(Party::Client(client.id), Status::Suspended, act()).await.unwrap();

    let log = "SELECT action, subject FROM audit_log WHERE details ->> 'on_behalf_of' = 'naledi' AND reason = 'contract 17'
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
    let (service, before) = (&office.onboarding, office.count("audit_log"));
    let taken = service.create_organisation("KGALE", "Other", Environment::Staging, act()).await.unwrap_err();
    assert!(matches!(&taken, OnboardingError::Database(DatabaseError::Duplicate { constraint })
        if constraint == "organisations_code_key"));
    let twice = service.create_user("KGALE", till(), act()).await.unwrap_err();
    assert!(matches!(twice, OnboardingError::Database(DatabaseError::Duplicate { .. })));
    let malformed =
        service.create_organisation("a b", "Other", Environment::Staging, act()).await.unwrap_err();
    assert!(matches!(malformed, OnboardingError::Database(DatabaseError::Rejected { .. })));
    let absent = service.set_status(Party::User(99), Status::Suspended, act()).await.unwrap_err();
    assert!(matches!(absent, OnboardingError::Database(DatabaseError::Absent { what: "user", .. })));
    let nameless = service.create_client("KGALE", "", act()).await.unwrap_err();
    assert!(matches!(nameless, OnboardingError::Database(DatabaseError::Rejected { .. })));
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
    let (service, client_id) = (&office.onboarding, &office.client.client_id);
    let rotated = service.rotate_secret(client_id, Duration::from_hours(1), act()).await.unwrap();
    let seen = service.client(client_id).await.unwrap();
    let ids: Vec<_> = seen.secrets.iter().map(|secret| secret.id).collect();
    assert_eq!((seen.id, ids), (office.client.id, vec![office.client.secret_id, rotated.secret_id]));
    for shown in [format!("{seen:?}"), format!("{:?}", office.client), format!("{rotated:?}")] {
        assert!(!shown.contains(&office.client.secret.expose()[11..]), "{shown}");
        assert!(!shown.contains(&rotated.secret.expose()[11..]), "{shown}");
    }
}

#[tokio::test]
async fn the_database_itself_keeps_organisations_apart() {
    let office = Office::open().await;
    let service = &office.onboarding;
    service.create_organisation("PHAKA", "Phakalane Fuel", Environment::Staging, act()).await.unwrap();
    service.create_user("PHAKA", till(), act()).await.unwrap();
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

#[tokio::test]
async fn a_rotation_ends_no_secret_later_than_it_was_to_end() {
    let office = Office::open().await;
    let (service, client_id) = (&office.onboarding, &office.client.client_id);
    let first = service.rotate_secret(client_id, Duration::from_hours(1), act()).await.unwrap();
    let second = service.rotate_secret(client_id, Duration::from_hours(24), act()).await.unwrap();
    assert_eq!(second.ending, [first.secret_id]);
    let secrets = service.client(client_id).await.unwrap().secrets;
    let ends: Vec<_> = secrets.iter().map(|secret| secret.expires_at).collect();
    assert_eq!(ends, [Some(first.old_end_at), Some(second.old_end_at), None]);
}

#[tokio::test]
async fn a_replaced_password_ends_its_sessions_and_is_refused_at_login() {
    let office = Office::open().await;
    let tokens = office.logs_in().await;
    let user = office.onboarding.user("KGALE", "till").await.unwrap();
    let password = office.onboarding.generate_password().unwrap();
    office.onboarding.replace_password(user.id, password.clone(), act()).await.unwrap();

    assert!(!office.knows(&tokens).await);
    assert!(office.refreshes(&tokens).await.is_err());
    assert!(wrong(&office.identity.login(office.credentials()).await));
    let new = LoginCredentials { password, ..office.credentials() };
    assert!(office.identity.login(new).await.is_ok());
}

#[tokio::test]
async fn a_users_new_role_is_what_the_next_login_has() {
    let office = Office::open().await;
    let user = office.onboarding.user("KGALE", "till").await.unwrap();
    assert_eq!(user.role, Role::Integrator);
    office.onboarding.set_role(user.id, Role::Viewer, act()).await.unwrap();
    let tokens = office.logs_in().await;
    let caller = office.identity.authenticate(tokens.access_token.expose()).await.unwrap();
    assert_eq!(caller.role, Role::Viewer);
    assert_eq!(office.onboarding.users("KGALE").await.unwrap()[0].role, Role::Viewer);
}
