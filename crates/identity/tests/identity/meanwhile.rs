//! Changes between the moment when credentials are found right and the moment when the session is opened.

use std::{
    hash::{BuildHasher, RandomState},
    sync::{Arc, Mutex, mpsc},
    time::Duration,
};

use identity::{
    Entropy, EntropyError, Environment, Identity, IssuedTokens, LoginCredentials, LoginError, Onboarding,
    Party, Status, SystemEntropy,
};
use test_kit::organisation::{act, identity_settings};
use tokio::{sync::Notify, task::JoinSet};

use crate::office::{Office, wrong};

const ALIVE: &str = "token_families WHERE revoked_at IS NULL";
const SLEEPING: &str = "pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'";

/// What an operator may do while a login is under way.
#[derive(Clone, Copy, Debug)]
enum OperatorStep {
    ReplacePassword,
    RevokeSecret,
    RotateSecret,
    SuspendUser,
    SuspendClient,
    SuspendOrganisation,
}

impl OperatorStep {
    async fn is_done(self, service: &Onboarding, client_id: &str) {
        let client = service.client(client_id).await.unwrap();
        let user = service.user("KGALE", "till").await.unwrap();
        let suspend = |party| service.set_status(party, Status::Suspended, act());
        match self {
            Self::ReplacePassword => {
                service.replace_password(user.id, "another horse battery".into(), act()).await.unwrap();
            }
            Self::RevokeSecret => service.revoke_secret(client.secrets[0].id, act()).await.unwrap(),
            Self::RotateSecret => {
                service.rotate_secret(client_id, Duration::ZERO, act()).await.unwrap();
            }
            Self::SuspendUser => suspend(Party::User(user.id)).await.unwrap(),
            Self::SuspendClient => suspend(Party::Client(client.id)).await.unwrap(),
            Self::SuspendOrganisation => suspend(Party::Organisation(user.organisation_id)).await.unwrap(),
        }
    }
}

/// Random bytes are first requested when the credentials have been found right. This source signals that moment. It
/// blocks the login there until the holder of the other end resumes it.
#[derive(Debug)]
struct Held {
    found_right: Arc<Notify>,
    resume: Mutex<mpsc::Receiver<()>>,
}

impl Entropy for Held {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), EntropyError> {
        self.found_right.notify_one();
        let _resumed = self.resume.lock().unwrap().recv();
        SystemEntropy.fill(bytes)
    }
}

/// A login that is blocked after its credentials have been found right, while `step` is done.
async fn login_during(step: OperatorStep, office: &Office) -> Result<IssuedTokens, LoginError> {
    let (found_right, (holder, resume)) = (Arc::new(Notify::new()), mpsc::channel());
    let held = Held { found_right: Arc::clone(&found_right), resume: Mutex::new(resume) };
    let identity = office.deployment_with(&identity_settings(Environment::Staging), Arc::new(held));
    let credentials = office.credentials();
    let login = tokio::spawn(async move { identity.login(credentials).await });
    found_right.notified().await;
    step.is_done(&office.onboarding, &office.client.client_id).await;
    drop(holder);
    login.await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_was_right_when_it_was_looked_up_and_is_not_any_more_opens_nothing() {
    for step in [
        OperatorStep::ReplacePassword,
        OperatorStep::RevokeSecret,
        OperatorStep::RotateSecret,
        OperatorStep::SuspendUser,
        OperatorStep::SuspendClient,
        OperatorStep::SuspendOrganisation,
    ] {
        let office = Office::open().await;
        let refused = login_during(step, &office).await;
        assert!(wrong(&refused), "{step:?}: {refused:?}");
        for table in ["token_families", "access_tokens", "refresh_tokens"] {
            assert_eq!(office.count(table), 0, "{step:?}: {table}");
        }
    }
}

/// A deployment in which many logins may wait for their password check.
fn with_long_queue(office: &Office) -> Arc<Identity> {
    let mut settings = identity_settings(Environment::Staging);
    settings.password_queue_max = 200;
    Arc::new(office.deployment(&settings))
}

/// Many logins with credentials that are right at first, while `step` is done: how many were opened, and how many
/// refused.
async fn crowd_around(step: OperatorStep, office: &Office) -> (usize, usize) {
    let (identity, mut crowd) = (with_long_queue(office), JoinSet::new());
    for _ in 0..60 {
        let (identity, credentials) = (Arc::clone(&identity), office.credentials());
        crowd.spawn(async move { identity.login(credentials).await });
    }
    let mut outcomes = vec![crowd.join_next().await.unwrap().unwrap()];
    step.is_done(&office.onboarding, &office.client.client_id).await;
    while let Some(outcome) = crowd.join_next().await {
        outcomes.push(outcome.unwrap());
    }
    for outcome in &outcomes {
        assert!(outcome.is_ok() || wrong(outcome), "{step:?}: {outcome:?}");
        if let Ok(tokens) = outcome {
            assert!(!office.knows(tokens).await, "{step:?}");
            assert!(wrong(&office.refreshes(tokens).await), "{step:?}");
        }
    }
    let opened = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
    (opened, outcomes.len() - opened)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_logins_around_a_new_password_or_a_revoked_secret_none_lives_on() {
    for step in [OperatorStep::ReplacePassword, OperatorStep::RevokeSecret] {
        let office = Office::open().await;
        let (opened, refused) = crowd_around(step, &office).await;
        assert!(opened > 0 && refused > 0, "{step:?}: {opened} opened and {refused} refused is no race");
        assert_eq!(office.count(ALIVE), 0, "{step:?}: of {opened} that were opened");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_refreshes_around_a_new_password_or_a_revoked_secret_none_lives_on() {
    for step in [OperatorStep::ReplacePassword, OperatorStep::RevokeSecret] {
        let office = Office::open().await;
        let (identity, mut crowd) = (with_long_queue(&office), JoinSet::new());
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
        step.is_done(&office.onboarding, &office.client.client_id).await;
        while let Some(ended) = crowd.join_next().await {
            let (last, end) = ended.unwrap();
            assert!(matches!(end, LoginError::InvalidCredentials), "{step:?}: {end:?}");
            assert!(!office.knows(&last.unwrap()).await, "{step:?}");
        }
        assert_eq!(office.count(ALIVE), 0, "{step:?}");
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
    // The locks that another login holds in the middle of its transaction.
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
