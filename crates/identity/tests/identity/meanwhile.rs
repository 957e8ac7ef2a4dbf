//! What is changed between the moment when credentials are found right and the moment when a session is opened.

use std::{
    hash::{BuildHasher, RandomState},
    sync::{Arc, Mutex, mpsc},
    time::Duration,
};

use identity::{
    Entropy, EntropyError, Environment, Identity, IssuedTokens, LoginCredentials, LoginError, Onboarding,
    Party, Status, SystemEntropy,
};
use tokio::{sync::Notify, task::JoinSet};

use crate::office::{Office, act, settings, wrong};

const ALIVE: &str = "token_families WHERE revoked_at IS NULL";
const SLEEPING: &str = "pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'";

/// What an operator may do to a login that is under way.
#[derive(Clone, Copy, Debug)]
enum Deed {
    ReplacePassword,
    RevokeSecret,
    RotateSecret,
    SuspendUser,
    SuspendClient,
    SuspendOrganisation,
}

impl Deed {
    async fn is_done(self, desk: &Onboarding, client_id: &str) {
        let client = desk.client(client_id).await.unwrap();
        let user = desk.user("KGALE", "till").await.unwrap();
        let suspend = |party| desk.set_status(party, Status::Suspended, act());
        match self {
            Self::ReplacePassword => {
                desk.replace_password(user.id, "another horse battery".into(), act()).await.unwrap();
            }
            Self::RevokeSecret => desk.revoke_secret(client.secrets[0].id, act()).await.unwrap(),
            Self::RotateSecret => {
                desk.rotate_secret(client_id, Duration::ZERO, act()).await.unwrap();
            }
            Self::SuspendUser => suspend(Party::User(user.id)).await.unwrap(),
            Self::SuspendClient => suspend(Party::Client(client.id)).await.unwrap(),
            Self::SuspendOrganisation => suspend(Party::Organisation(user.organisation_id)).await.unwrap(),
        }
    }
}

/// Randomness is first asked for when the credentials have been found right. This says so, and keeps the login
/// there until whoever holds the other end lets go.
#[derive(Debug)]
struct Held {
    found_right: Arc<Notify>,
    let_go: Mutex<mpsc::Receiver<()>>,
}

impl Entropy for Held {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), EntropyError> {
        self.found_right.notify_one();
        let _let_go = self.let_go.lock().unwrap().recv();
        SystemEntropy.fill(bytes)
    }
}

/// A login that is held where its credentials have been found right, while `deed` is done.
async fn login_during(deed: Deed, office: &Office) -> Result<IssuedTokens, LoginError> {
    let (found_right, (holder, let_go)) = (Arc::new(Notify::new()), mpsc::channel());
    let held = Held { found_right: Arc::clone(&found_right), let_go: Mutex::new(let_go) };
    let identity = office.deployment_with(&settings(Environment::Staging), Arc::new(held));
    let credentials = office.credentials();
    let login = tokio::spawn(async move { identity.login(credentials).await });
    found_right.notified().await;
    deed.is_done(&office.onboarding, &office.client.client_id).await;
    drop(holder);
    login.await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_was_right_when_it_was_looked_up_and_is_not_any_more_opens_nothing() {
    for deed in [
        Deed::ReplacePassword,
        Deed::RevokeSecret,
        Deed::RotateSecret,
        Deed::SuspendUser,
        Deed::SuspendClient,
        Deed::SuspendOrganisation,
    ] {
        let office = Office::open().await;
        let refused = login_during(deed, &office).await;
        assert!(wrong(&refused), "{deed:?}: {refused:?}");
        for table in ["token_families", "access_tokens", "refresh_tokens"] {
            assert_eq!(office.count(table), 0, "{deed:?}: {table}");
        }
    }
}

/// A deployment where a crowd may wait for its passwords to be checked.
fn roomy(office: &Office) -> Arc<Identity> {
    let mut settings = settings(Environment::Staging);
    settings.password_queue_max = 200;
    Arc::new(office.deployment(&settings))
}

/// So many logins with what was right in the beginning, around the deed: how many were opened, how many refused.
async fn crowd_around(deed: Deed, office: &Office) -> (usize, usize) {
    let (identity, mut crowd) = (roomy(office), JoinSet::new());
    for _ in 0..60 {
        let (identity, credentials) = (Arc::clone(&identity), office.credentials());
        crowd.spawn(async move { identity.login(credentials).await });
    }
    let mut outcomes = vec![crowd.join_next().await.unwrap().unwrap()];
    deed.is_done(&office.onboarding, &office.client.client_id).await;
    while let Some(outcome) = crowd.join_next().await {
        outcomes.push(outcome.unwrap());
    }
    for outcome in &outcomes {
        assert!(outcome.is_ok() || wrong(outcome), "{deed:?}: {outcome:?}");
        if let Ok(tokens) = outcome {
            assert!(!office.knows(tokens).await, "{deed:?}");
            assert!(wrong(&office.refreshes(tokens).await), "{deed:?}");
        }
    }
    let opened = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
    (opened, outcomes.len() - opened)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_logins_around_a_new_password_or_a_revoked_secret_none_lives_on() {
    for deed in [Deed::ReplacePassword, Deed::RevokeSecret] {
        let office = Office::open().await;
        let (opened, refused) = crowd_around(deed, &office).await;
        assert!(opened > 0 && refused > 0, "{deed:?}: {opened} opened and {refused} refused is no race");
        assert_eq!(office.count(ALIVE), 0, "{deed:?}: of {opened} that were opened");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_refreshes_around_a_new_password_or_a_revoked_secret_none_lives_on() {
    for deed in [Deed::ReplacePassword, Deed::RevokeSecret] {
        let office = Office::open().await;
        let (identity, mut crowd) = (roomy(&office), JoinSet::new());
        for _ in 0..8 {
            let (identity, mut refresh) =
                (Arc::clone(&identity), office.refresh_with(&office.logs_in().await));
            crowd.spawn(async move {
                let mut last = None;
                let end = loop {
                    match identity.refresh(refresh.clone()).await {
                        Ok(next) => {
                            refresh.refresh_token = next.refresh_token.expose().into();
                            last = Some(next);
                        }
                        Err(error) => break error,
                    }
                };
                (last, end)
            });
        }
        while office.count("refresh_tokens") < 40 {
            tokio::task::yield_now().await;
        }
        deed.is_done(&office.onboarding, &office.client.client_id).await;
        while let Some(ended) = crowd.join_next().await {
            let (last, end) = ended.unwrap();
            assert!(matches!(end, LoginError::InvalidCredentials), "{deed:?}: {end:?}");
            assert!(!office.knows(&last.unwrap()).await, "{deed:?}");
        }
        assert_eq!(office.count(ALIVE), 0, "{deed:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_login_that_meets_a_change_under_way_waits_for_it_and_believes_it() {
    for (change, logs_in) in [("COMMIT", false), ("ROLLBACK", true)] {
        let office = Office::open().await;
        let replaced = "UPDATE users SET password_hash = password_hash || 'x'";
        let under_way = format!("BEGIN; {replaced}; SELECT pg_sleep(1); {change}");
        let database = Arc::clone(&office.database);
        let operator = tokio::task::spawn_blocking(move || database.run_sql(&under_way).map(drop));
        while office.count(SLEEPING) == 0 {
            tokio::task::yield_now().await;
        }
        let outcome = office.identity.login(office.credentials()).await;
        assert_eq!(office.count(SLEEPING), 0, "{change}: it did not wait");
        assert_eq!((outcome.is_ok(), wrong(&outcome)), (logs_in, !logs_in), "{change}: {outcome:?}");
        operator.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn logins_do_not_wait_for_each_other() {
    let office = Office::open().await;
    // What another login holds in the middle of its transaction.
    let shared = "BEGIN;
                  SET ROLE vendgate_api;
                  SELECT FROM users, client_secrets, oauth_clients, organisations FOR SHARE;
                  SELECT pg_sleep(1);
                  COMMIT";
    let database = Arc::clone(&office.database);
    let other = tokio::task::spawn_blocking(move || database.run_sql(shared).map(drop));
    while office.count(SLEEPING) == 0 {
        tokio::task::yield_now().await;
    }
    office.logs_in().await;
    assert_eq!(office.count(SLEEPING), 1, "the other has not ended yet");
    other.await.unwrap().unwrap();
}

#[test]
fn the_same_claim_under_another_password_is_the_same_claim() {
    let hasher = RandomState::new();
    let claim = |of: &LoginCredentials| hasher.hash_one(of.claim());
    let one = LoginCredentials {
        client_id: "vg_test_1".into(),
        client_secret: "secret".into(),
        organisation_code: "KGALE".into(),
        username: "till".into(),
        password: "one".into(),
    };
    assert_eq!(claim(&one), claim(&LoginCredentials { password: "other".into(), ..one.clone() }));
    for other in [
        LoginCredentials { client_id: "vg_test_2".into(), ..one.clone() },
        LoginCredentials { client_secret: "Secret".into(), ..one.clone() },
        LoginCredentials { organisation_code: "PHAKA".into(), ..one.clone() },
        LoginCredentials { username: "auditor".into(), ..one.clone() },
    ] {
        assert_ne!(claim(&one), claim(&other));
    }
}
