//! Circuit breakers in the database: what all processes have counted opens one, once, and whatever a breaker does, it ends no pause of
//! an operator and tells each organisation once.

use std::time::Duration;

use back_office::tell_of_pauses;
use catalogue::{
    AnswerKind, Breaker, BreakerTrial, ListedBreaker, NewPause, OpenedBreaker, ProviderAnswers, Resumed,
    count_provider_answers, declare_breaker, end_breaker_pause, list_breakers, open_breakers, pause_provider,
    remove_breaker, resume_provider, take_breaker_trials,
};
use futures_util::future::join_all;
use store::Store;
use test_kit::database::WORKER;
use vend::{Product, SubscriberIdentifier};

use crate::env::{PROVIDER, TestEnv, act};

/// Opens when half of at least ten calls of the last minute are silent. The provider is tried after a minute.
fn breaker() -> Breaker {
    Breaker {
        silent_percent: 50,
        calls_min: 10,
        within: Duration::from_mins(1),
        pause: Duration::from_mins(1),
        notice: Some("BPC does not answer".to_owned()),
        trial: Some((Product::Electricity, SubscriberIdentifier::parse("04257670465").unwrap())),
    }
}

fn of_age(age: Duration, kind: AnswerKind, answered: u32, silent: u32) -> Vec<ProviderAnswers> {
    vec![ProviderAnswers { provider_code: PROVIDER.to_owned(), kind, age, answered, silent }]
}

impl TestEnv {
    async fn with_a_breaker(breaker: Breaker) -> Self {
        let env = Self::open().await;
        declare_breaker(env.operator.database(), PROVIDER.to_owned(), breaker, act()).await.unwrap();
        // It was declared an hour ago.
        env.sql("UPDATE provider_breakers SET counts_since = counts_since - interval '1 h'");
        env
    }

    /// A server has counted this, of calls that have just begun.
    async fn hears(&self, kind: AnswerKind, answered: u32, silent: u32) {
        let counted = of_age(Duration::ZERO, kind, answered, silent);
        assert!(count_provider_answers(self.store.database(), counted).await.unwrap());
    }

    /// The pauses that are in force or over: who made each, and in how many seconds it ends.
    fn pauses_now(&self) -> String {
        self.sql(
            "SELECT string_agg(CASE WHEN by_breaker THEN 'breaker' ELSE 'operator' END
                 || coalesce(' ' || round(extract(epoch FROM ends_at - clock_timestamp()) / 10) * 10, ''), ', ' ORDER BY id)
             FROM provider_pauses",
        )
    }

    fn told_of_pauses(&self) -> String {
        self.sql("SELECT string_agg(kind || ' ' || details, E'\\n' ORDER BY transaction_no, id) FROM feed_events WHERE kind LIKE 'provider.%'")
    }

    /// Time passes for all that the breaker has seen and done.
    fn seconds_pass(&self, seconds: u32) {
        self.sql(&format!(
            "UPDATE provider_answers SET told_at = told_at - interval '{seconds} s';
             UPDATE provider_breakers SET counts_since = counts_since - interval '{seconds} s', opened_at = opened_at - interval '{seconds} s';
             UPDATE provider_pauses SET starts_at = starts_at - interval '{seconds} s', ends_at = ends_at - interval '{seconds} s'"
        ));
    }

    async fn breaker_now(&self) -> ListedBreaker {
        list_breakers(self.operator.database()).await.unwrap().remove(0)
    }
}

async fn opens(worker: &Store) -> Vec<OpenedBreaker> {
    open_breakers(worker.database()).await.unwrap()
}

async fn takes_trials(worker: &Store) -> Vec<BreakerTrial> {
    take_breaker_trials(worker.database(), vec![PROVIDER.to_owned()]).await.unwrap()
}

#[tokio::test]
async fn a_breaker_opens_once_for_many_workers_and_is_told_once() {
    let env = TestEnv::with_a_breaker(breaker()).await;
    let shop = env.merchant_with(1_000).await;
    env.offers_to(shop.authority.organisation);
    let workers = [env.store_as(WORKER).await, env.store_as(WORKER).await];
    env.hears(AnswerKind::Question, 0, 9).await;
    assert_eq!(opens(&workers[0]).await, [], "nine calls are not enough");
    env.hears(AnswerKind::Question, 10, 0).await;
    assert_eq!(opens(&workers[0]).await, [], "9 of 19 are less than half");
    env.hears(AnswerKind::Question, 0, 1).await;

    let looks = workers.iter().cycle().take(8).map(opens);
    let opened = join_all(looks).await.concat();
    let [OpenedBreaker { kind: AnswerKind::Question, calls: 20, silent: 10, .. }] = &opened[..] else {
        panic!("{opened:?}");
    };
    assert_eq!(env.pauses_now(), "breaker 90");
    let listed = env.breaker_now().await;
    assert!(listed.is_open && listed.openings == 1 && listed.opened_at.is_some(), "{listed:?}");
    let told = env.told_of_pauses();
    assert_eq!(told.lines().count(), 1, "{told}");
    assert!(told.contains("provider.paused") && told.contains("BPC does not answer"), "{told}");
    assert!(!told.contains("resumes_at"), "nobody knows that: {told}");
}

#[tokio::test]
async fn vends_without_answers_open_a_breaker_however_many_questions_are_answered() {
    let env = TestEnv::with_a_breaker(breaker()).await;
    let worker = env.store_as(WORKER).await;
    env.hears(AnswerKind::Question, 500, 0).await;
    env.hears(AnswerKind::Vend, 4, 5).await;
    assert_eq!(opens(&worker).await, []);
    env.hears(AnswerKind::Vend, 0, 1).await;
    let opened = opens(&worker).await;
    assert_eq!(opened.iter().map(|opened| opened.kind).collect::<Vec<_>>(), [AnswerKind::Vend]);
}

#[tokio::test]
async fn silence_that_is_past_or_before_the_last_pause_opens_no_breaker() {
    let env = TestEnv::with_a_breaker(breaker()).await;
    let worker = env.store_as(WORKER).await;
    env.hears(AnswerKind::Vend, 0, 9).await;
    env.seconds_pass(70);
    env.hears(AnswerKind::Vend, 0, 9).await;
    assert_eq!(opens(&worker).await, [], "a minute is counted");
    env.hears(AnswerKind::Vend, 0, 1).await;
    assert_eq!(opens(&worker).await.len(), 1);
    resume_provider(env.operator.database(), PROVIDER.to_owned(), Resumed::InForce, false, act())
        .await
        .unwrap();
    assert_eq!(opens(&worker).await, [], "what was counted before the end of the pause is forgotten");

    // These vends were sent before the pause, and time out after it.
    let late = of_age(Duration::from_secs(90), AnswerKind::Vend, 0, 50);
    count_provider_answers(worker.database(), late).await.unwrap();
    assert_eq!(opens(&worker).await, []);
    env.hears(AnswerKind::Vend, 0, 2).await;
    assert_eq!(opens(&worker).await, []);
    env.hears(AnswerKind::Vend, 0, 1).await;
    assert_eq!(opens(&worker).await.len(), 1, "soon after a pause a quarter of the calls is enough");
    assert_eq!(env.pauses_now(), "breaker 150", "two minutes, and the time for a trial");
    assert_eq!(env.breaker_now().await.openings, 2);

    end_breaker_pause(worker.database(), env.sql("SELECT id FROM provider_pauses").parse().unwrap())
        .await
        .unwrap();
    env.seconds_pass(601);
    env.hears(AnswerKind::Vend, 0, 9).await;
    assert_eq!(opens(&worker).await, [], "after ten minutes all is as in the beginning");
    env.hears(AnswerKind::Vend, 0, 1).await;
    assert_eq!(opens(&worker).await.len(), 1);
    assert_eq!((env.pauses_now().as_str(), env.breaker_now().await.openings), ("breaker 90", 1));
}

#[tokio::test]
async fn the_breaker_never_ends_or_moves_a_pause_of_an_operator() {
    let env = TestEnv::with_a_breaker(breaker()).await;
    let shop = env.merchant_with(1_000).await;
    env.offers_to(shop.authority.organisation);
    let worker = env.store_as(WORKER).await;
    env.hears(AnswerKind::Question, 0, 10).await;
    let opened = opens(&worker).await;
    assert_eq!(opened.len(), 1);
    let soon = env.sql("SELECT to_json(clock_timestamp() + interval '85 s')#>>'{}'").parse().unwrap();
    let planned = NewPause { ends_at: Some(soon), ..NewPause::default() };
    let of_operator =
        pause_provider(env.operator.database(), PROVIDER.to_owned(), planned, false, act()).await.unwrap();
    env.seconds_pass(65);
    let trials = takes_trials(&worker).await;
    assert_eq!(trials.len(), 1);
    assert_eq!(env.pauses_now(), "breaker 90, operator 20");

    assert!(!end_breaker_pause(worker.database(), of_operator.id).await.unwrap());
    assert!(end_breaker_pause(worker.database(), trials[0].pause).await.unwrap());
    assert!(!end_breaker_pause(worker.database(), trials[0].pause).await.unwrap());
    assert_eq!(env.pauses_now(), "operator 20");
    let told = env.told_of_pauses();
    let resumed = told.lines().filter(|line| line.starts_with("provider.resumed")).collect::<Vec<_>>();
    let [resumed] = resumed[..] else { panic!("{told}") };
    assert!(resumed.contains(r#""still_paused": ["AIRTIME", "ELECTRICITY", "WATER"]"#), "{resumed}");

    env.hears(AnswerKind::Question, 0, 100).await;
    assert_eq!(opens(&worker).await, [], "all sales are paused already");
}

#[tokio::test]
async fn a_trial_is_taken_by_one_worker_and_the_pause_goes_on_meanwhile() {
    let env = TestEnv::with_a_breaker(breaker()).await;
    let workers = [env.store_as(WORKER).await, env.store_as(WORKER).await];
    env.hears(AnswerKind::Question, 0, 10).await;
    opens(&workers[0]).await;
    env.seconds_pass(55);
    assert_eq!(takes_trials(&workers[0]).await, [], "it is due after a minute");
    env.seconds_pass(7);
    assert_eq!(take_breaker_trials(workers[0].database(), vec!["WUC".to_owned()]).await.unwrap(), []);
    let taken = join_all(workers.iter().cycle().take(8).map(takes_trials)).await.concat();
    let [trial] = &taken[..] else { panic!("{taken:?}") };
    assert_eq!((trial.product, trial.subscriber.as_str()), (Product::Electricity, "04257670465"));
    assert_eq!(env.pauses_now(), "breaker 90");
    // The worker dies. The next trial is due a minute later.
    env.seconds_pass(62);
    assert_eq!(takes_trials(&workers[1]).await.len(), 1);
}

#[tokio::test]
async fn without_a_worker_or_a_trial_the_pause_of_a_breaker_ends_by_itself() {
    let env = TestEnv::with_a_breaker(Breaker { trial: None, ..breaker() }).await;
    let shop = env.merchant_with(100_000).await;
    env.offers_to(shop.authority.organisation);
    let worker = env.store_as(WORKER).await;
    env.hears(AnswerKind::Question, 0, 10).await;
    opens(&worker).await;
    assert_eq!(env.pauses_now(), "breaker 60");
    env.seconds_pass(50);
    assert_eq!(takes_trials(&worker).await, []);
    env.seconds_pass(15);
    let (_order, _reserved) = env.reserved(&shop, "04000000001", 1_000).await;
    assert!(!env.breaker_now().await.is_open);
    env.hears(AnswerKind::Question, 0, 10).await;
    assert_eq!(opens(&worker).await, [], "first the end of the last pause is told");
    assert_eq!(tell_of_pauses(worker.database()).await.unwrap(), 1);
    assert_eq!(env.told_of_pauses().lines().count(), 2, "{}", env.told_of_pauses());
}

#[tokio::test]
async fn a_breaker_keeps_a_bounded_number_of_counts_and_none_when_it_is_removed() {
    let env = TestEnv::with_a_breaker(breaker()).await;
    let worker = env.store_as(WORKER).await;
    for _ in 0..3 {
        env.hears(AnswerKind::Question, 1, 0).await;
    }
    assert!(env.count("provider_answers") <= 2, "one row for five seconds");
    env.seconds_pass(901);
    opens(&worker).await;
    assert_eq!(env.count("provider_answers"), 0);

    env.hears(AnswerKind::Question, 0, 10).await;
    opens(&worker).await;
    remove_breaker(env.operator.database(), PROVIDER.to_owned(), act()).await.unwrap();
    assert_eq!((env.count("provider_answers"), env.pauses_now().as_str()), (0, "breaker 90"));
    env.seconds_pass(100);
    assert_eq!(tell_of_pauses(worker.database()).await.unwrap(), 1);
    let counted = of_age(Duration::ZERO, AnswerKind::Question, 0, 10);
    assert!(!count_provider_answers(env.store.database(), counted).await.unwrap());
    assert_eq!((env.count("provider_answers"), env.count("provider_pauses")), (0, 0));
}
