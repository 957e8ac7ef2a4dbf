//! A refused login reveals what is wrong neither by its answer nor by its duration.
//!
//! `VENDGATE_SWEEP=1000` makes a thousand wrong logins of each kind.

use std::{
    collections::BTreeMap,
    hash::{BuildHasher, RandomState},
    io::{self, Write as _},
    sync::Arc,
    time::Duration,
};

use clock::{Clock, SystemClock};
use futures_util::{StreamExt, stream};
use identity::{Environment, Onboarding, Party, Role, Status, SystemEntropy};
use reqwest::{Client, header::CONTENT_TYPE};
use sandbox::{Credentials, http_client};
use test_kit::organisation::{PASSWORD, act, enter, user};

use crate::{env::env, merchant::Merchant, wire::Answer};

/// Disables the limits, because one address and one user log in as fast as possible.
const UNLIMITED: [(&str, &str); 3] = [
    ("VENDGATE__WEB__LIMITS__LOGIN__PER_SECOND", "0"),
    ("VENDGATE__WEB__LIMITS__LOGIN__BURST", "0"),
    ("VENDGATE__WEB__LIMITS__GUESS_DELAY_MS", "0"),
];

/// The minimum duration of a refusal.
const FLOOR: Duration = Duration::from_millis(250);

/// Few enough that the machine is rarely too busy to keep the minimum duration.
const AT_ONCE: usize = 8;

/// So many of the kinds pass the check of the client, and have a password checked, of a user or of none. The others are refused without
/// one. A server that cannot check most passwords within the minimum duration, because the machine is busy, takes another one for
/// these. That tells whether the client's secret is right, which its owner knows, and nothing about users.
const OF_PASSWORDS: usize = 5;

/// The number of logins of each kind, unless `VENDGATE_SWEEP` is set. With fewer than 18, the test of the ranks could
/// not tell even two samples apart that do not overlap.
const FEW: usize = 24;

/// Wrong credentials with the name of their error, first those of which a password is checked.
type Kinds = Vec<(&'static str, Credentials)>;

/// A wrong login: its kind, its duration and the answer.
type Refusal = (usize, Duration, Answer);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_about_a_refused_login_tells_what_was_wrong() {
    let server = env().another_api_server_with("server-that-is-timed", &UNLIMITED);
    let (merchant, neighbour) = (env().open_merchant().await, env().open_merchant().await);
    let (kinds, client) = (kinds(&merchant, &neighbour).await, http_client().unwrap());
    for (_, credentials) in &kinds {
        refused(&client, server.url(), credentials).await;
    }

    let refusals: Vec<Refusal> = stream::iter(in_random_order(kinds.len(), sweep()))
        .map(async |kind| {
            let (took, answer) = refused(&client, server.url(), &kinds[kind].1).await;
            (kind, took, answer)
        })
        .buffer_unordered(AT_ONCE)
        .collect()
        .await;

    all_read_alike(&kinds, &refusals);
    let times: Vec<Vec<Duration>> = (0..kinds.len()).map(|kind| times_of(kind, &refusals)).collect();
    for ((what, _), times) in kinds.iter().zip(&times) {
        let (fastest, median, slowest) = (times[0], times[times.len() / 2], times[times.len() - 1]);
        println!("{what:<32} {} times {fastest:?} to {slowest:?}, median {median:?}", times.len());
    }
    for ((what, _), times) in kinds.iter().zip(&times) {
        assert!(times[0] >= FLOOR, "{what} was answered after {:?}", times[0]);
    }
    let (passwords, clients) = times.split_at(OF_PASSWORDS);
    let (names_of_passwords, names_of_clients) = kinds.split_at(OF_PASSWORDS);
    all_take_the_same_time(names_of_passwords, passwords);
    all_take_the_same_time(names_of_clients, clients);
    if passwords.iter().all(|times| times[times.len() / 2] < 2 * FLOOR) {
        all_take_the_same_time(&kinds, &times);
    } else {
        // The output of a test that passes is not shown, but a check that was left out must be.
        let told = "login_timing: refusals with and without a password were not compared, because this machine is too busy";
        writeln!(io::stderr(), "{told}").unwrap();
    }
}

/// Compares each kind with the first one.
fn all_take_the_same_time(kinds: &[(&str, Credentials)], times: &[Vec<Duration>]) {
    for ((what, _), others) in kinds.iter().zip(times) {
        assert!(could_be_the_same(&times[0], others), "{what} takes a different time than {}", kinds[0].0);
    }
}

#[test]
fn times_that_differ_are_told_apart() {
    let around = |from: u64| (0..40).map(|noise| Duration::from_micros(from + noise * 50)).collect();
    let (fast, alike, slow): (Vec<_>, Vec<_>, Vec<_>) = (around(250_000), around(250_020), around(251_500));
    assert!(could_be_the_same(&fast, &alike));
    assert!(!could_be_the_same(&fast, &slow) && !could_be_the_same(&slow, &fast));
}

/// All kinds of wrong credentials. Each has as few errors as possible.
async fn kinds(merchant: &Merchant, neighbour: &Merchant) -> Kinds {
    let right = || merchant.credentials.clone();
    let bent = |secret: &str| {
        let (rest, last) = secret.split_at(secret.len() - 1);
        format!("{rest}{}", if last == "a" { "b" } else { "a" })
    };
    assert_ne!(bent(&right().client_secret), right().client_secret);
    vec![
        ("wrong password", Credentials { secret_pass: "0123456789abcdef".into(), ..right() }),
        ("missing user", Credentials { identifier: "nobody".into(), ..right() }),
        ("missing organisation", Credentials { org_code: "NOWHERE".into(), ..right() }),
        ("another organisation", Credentials { org_code: neighbour.code.clone(), ..right() }),
        ("suspended user", suspended_user(merchant).await),
        ("the other environment's", of_the_other_environment().await),
        ("unknown client", Credentials { client_id: "vg_test_0123456789abcdef".into(), ..right() }),
        ("wrong client secret", Credentials { client_secret: bent(&right().client_secret), ..right() }),
        (
            "another client's secret",
            Credentials { client_secret: neighbour.credentials.client_secret.clone(), ..right() },
        ),
    ]
}

/// Valid credentials of the production environment.
async fn of_the_other_environment() -> Credentials {
    let onboarding = onboarding();
    let (production, till) = (Environment::Production, user("till", Role::Integrator));
    let client = enter(&onboarding, "LIVE", "A shop", production, till).await;
    Credentials {
        client_id: client.client_id,
        client_secret: client.secret.expose().to_owned(),
        org_code: "LIVE".to_owned(),
        identifier: "till".to_owned(),
        secret_pass: PASSWORD.to_owned(),
    }
}

async fn suspended_user(merchant: &Merchant) -> Credentials {
    let onboarding = onboarding();
    let user = onboarding.create_user(&merchant.code, user("gone", Role::Integrator), act()).await.unwrap();
    onboarding.set_status(Party::User(user), Status::Suspended, act()).await.unwrap();
    Credentials {
        identifier: "gone".to_owned(),
        secret_pass: PASSWORD.to_owned(),
        ..merchant.credentials.clone()
    }
}

fn onboarding() -> Onboarding {
    let store = env().sandbox.office().store().clone();
    Onboarding::new(store.database().clone(), Arc::new(SystemClock), Arc::new(SystemEntropy))
}

async fn refused(client: &Client, server: &str, credentials: &Credentials) -> (Duration, Answer) {
    let login = credentials.login_body();
    let request = client
        .post(format!("{server}/public/v1/auth/login"))
        .header(CONTENT_TYPE, "application/json")
        .header("X-Request-Id", "timed")
        .body(login.to_string());
    let asked = SystemClock.monotonic();
    let answer = Answer::read(request.send().await.unwrap()).await;
    let took = SystemClock.monotonic().elapsed_since(asked);
    assert_eq!(answer.refusal(), (401, "invalid_credentials", None));
    (took, answer)
}

/// Checks that status, headers and body are identical, except the date.
fn all_read_alike(kinds: &Kinds, refusals: &[Refusal]) {
    let reading = |answer: &Answer| {
        let fields: BTreeMap<String, Vec<u8>> = answer
            .headers
            .iter()
            .filter(|(name, _)| *name != "date")
            .map(|(name, value)| (name.to_string(), value.as_bytes().to_vec()))
            .collect();
        (answer.status, fields, answer.text.clone())
    };
    let first = reading(&refusals[0].2);
    for (kind, _, answer) in refusals {
        assert_eq!(reading(answer), first, "{}", kinds[*kind].0);
    }
}

/// The sorted durations of one kind.
fn times_of(kind: usize, refusals: &[Refusal]) -> Vec<Duration> {
    let mut times: Vec<Duration> =
        refusals.iter().filter(|(of, ..)| *of == kind).map(|(_, took, _)| *took).collect();
    times.sort_unstable();
    times
}

/// The rank sum test of Mann and Whitney: whether two samples can come from the same distribution, of any form. The
/// probability of a false "no" is one in three million, which is five standard deviations. The comparison is squared
/// to use integers only.
fn could_be_the_same(one: &[Duration], other: &[Duration]) -> bool {
    const DEVIATIONS: i128 = 5;
    let count = |times: &[Duration]| i128::try_from(times.len()).unwrap();
    let pairs = count(one) * count(other);
    let twice_u: i128 = one
        .iter()
        .flat_map(|time| other.iter().map(move |other| time.cmp(other)))
        .map(|order| 1 + i128::from(order.is_gt()) - i128::from(order.is_lt()))
        .sum();
    // The variance of twice u is a third of pairs * (all + 1).
    3 * (twice_u - pairs).pow(2) < DEVIATIONS.pow(2) * pairs * (count(one) + count(other) + 1)
}

/// Each kind `times` times, in random order.
fn in_random_order(kinds: usize, times: usize) -> Vec<usize> {
    let lots = RandomState::new();
    let mut order: Vec<usize> = (0..kinds * times).collect();
    order.sort_by_cached_key(|number| lots.hash_one(number));
    order.into_iter().map(|number| number % kinds).collect()
}

#[expect(clippy::disallowed_methods, reason = "the variable sets the length of this test")]
fn sweep() -> usize {
    std::env::var("VENDGATE_SWEEP").map_or(FEW, |times| times.parse().unwrap())
}
