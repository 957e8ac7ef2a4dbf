//! The feed tells of pauses: once when one begins and once when it ends, to each organisation that it concerns, whether a command or
//! the clock does it.

use back_office::tell_of_pauses;
use catalogue::{ListedPause, NewPause, Resumed, pause_provider, resume_provider};
use chrono::{DateTime, TimeDelta, Utc};
use futures_util::future::join_all;
use purchase::OrganisationId;
use store::Store;
use vend::Product;

use crate::env::{PROVIDER, TestEnv, act};

impl TestEnv {
    async fn enters(&self, pause: NewPause) -> ListedPause {
        pause_provider(self.operator.database(), PROVIDER.to_owned(), pause, false, act()).await.unwrap()
    }

    async fn ends(&self, resumed: Resumed) {
        resume_provider(self.operator.database(), PROVIDER.to_owned(), resumed, false, act()).await.unwrap();
    }

    async fn organisation_with_offers(&self) -> OrganisationId {
        let organisation = self.merchant_with(10_000).await.authority.organisation;
        self.offers_to(organisation);
        organisation
    }

    /// What an organisation was told of pauses, in order: the kind and the JSON.
    fn told(&self, organisation: OrganisationId) -> Vec<String> {
        let told = self.sql(&format!(
            "SELECT coalesce(string_agg(kind || ' ' || details, E'\\n' ORDER BY transaction_no, id), '') FROM feed_events
             WHERE kind LIKE 'provider.%' AND organisation_id = {}",
            organisation.0
        ));
        told.lines().map(str::to_owned).collect()
    }

    /// The times that the events of pauses state, relative to a moment, in seconds.
    fn happened(&self, since: DateTime<Utc>) -> String {
        self.sql(&format!(
            "SELECT string_agg(kind || ' ' || round(extract(epoch FROM at - '{}')), ', ' ORDER BY transaction_no, id)
             FROM feed_events WHERE kind LIKE 'provider.%'",
            since.to_rfc3339()
        ))
    }
}

/// Several workers look at once, several times each. Returns of how many changes they told.
async fn workers_look(workers: &[Store; 2]) -> u64 {
    let looks = workers.iter().cycle().take(8).map(|worker| tell_of_pauses(worker.database()));
    join_all(looks).await.into_iter().map(Result::unwrap).sum()
}

fn from_to(now: DateTime<Utc>, starts: i64, ends: i64) -> NewPause {
    let at = |seconds| Some(now + TimeDelta::seconds(seconds));
    NewPause { starts_at: at(starts), ends_at: at(ends), ..NewPause::default() }
}

#[tokio::test]
async fn a_command_that_pauses_or_resumes_tells_each_organisation_with_an_offer_once() {
    let env = TestEnv::open().await;
    let (one, other) = (env.organisation_with_offers().await, env.organisation_with_offers().await);
    let stranger = env.merchant_with(10_000).await.authority.organisation;
    let workers =
        [env.store_as(test_kit::database::WORKER).await, env.store_as(test_kit::database::WORKER).await];
    let until = "2099-01-01T12:00:00Z".parse().unwrap();
    let notice = Some("Works".to_owned());
    let water = NewPause { product: Some(Product::Water), ..NewPause::default() };
    let water = env.enters(water).await.id;
    let all = env.enters(NewPause { ends_at: Some(until), notice, ..NewPause::default() }).await.id;
    assert_eq!(workers_look(&workers).await, 0, "the commands have told of it");
    env.ends(Resumed::One(all)).await;
    env.ends(Resumed::InForce).await;
    assert_eq!(workers_look(&workers).await, 0);

    let provider = env.sql(&format!(
        "SELECT jsonb_build_object('code', code, 'name', name) FROM providers WHERE code = '{PROVIDER}'"
    ));
    let every = r#"["AIRTIME", "ELECTRICITY", "WATER"]"#;
    let expected = [
        format!(
            r#"provider.paused {{"pause": {{"id": {water}}}, "provider": {provider}, "product_types": ["WATER"]}}"#
        ),
        format!(
            r#"provider.paused {{"pause": {{"id": {all}, "notice": "Works", "resumes_at": "2099-01-01T12:00:00.000000Z"}}, "provider": {provider}, "product_types": {every}}}"#
        ),
        format!(
            r#"provider.resumed {{"pause": {{"id": {all}}}, "provider": {provider}, "still_paused": ["WATER"], "product_types": {every}}}"#
        ),
        format!(
            r#"provider.resumed {{"pause": {{"id": {water}}}, "provider": {provider}, "still_paused": [], "product_types": ["WATER"]}}"#
        ),
    ];
    for organisation in [one, other] {
        assert_eq!(env.told(organisation), expected);
    }
    assert_eq!(env.told(stranger), [""; 0]);
}

#[tokio::test]
async fn a_pause_that_begins_and_ends_by_itself_is_told_once_by_two_workers() {
    let env = TestEnv::open().await;
    let organisation = env.organisation_with_offers().await;
    let workers =
        [env.store_as(test_kit::database::WORKER).await, env.store_as(test_kit::database::WORKER).await];
    let now: DateTime<Utc> = env.sql("SELECT to_json(now())#>>'{}'").parse().unwrap();
    env.enters(from_to(now, 3_600, 7_200)).await;
    assert_eq!(workers_look(&workers).await, 0, "it has not begun");
    // Two hours pass.
    let passes = |hours: i64| {
        env.sql(&format!("UPDATE provider_pauses SET starts_at = starts_at - interval '{hours} h', ends_at = ends_at - interval '{hours} h'"))
    };
    passes(1);
    assert_eq!(workers_look(&workers).await, 1);
    passes(1);
    assert_eq!(workers_look(&workers).await, 1);
    assert_eq!(env.told(organisation).len(), 2);
    assert_eq!(env.happened(now), "provider.paused 0, provider.resumed 0", "the times of the plan");
    assert_eq!(env.sql("SELECT count(*) FROM provider_pauses"), "0");
}

#[tokio::test]
async fn a_pause_that_never_held_is_not_told_and_one_that_no_worker_saw_is() {
    let env = TestEnv::open().await;
    let organisation = env.organisation_with_offers().await;
    let worker = env.store_as(test_kit::database::WORKER).await;
    let now: DateTime<Utc> = env.sql("SELECT to_json(now())#>>'{}'").parse().unwrap();
    env.enters(from_to(now, -3_600, -60)).await;
    let taken_back = env.enters(from_to(now, 3_600, 7_200)).await;
    env.ends(Resumed::One(taken_back.id)).await;
    tell_of_pauses(worker.database()).await.unwrap();
    assert_eq!(env.told(organisation), [""; 0]);

    env.enters(from_to(now, 600, 7_200)).await;
    env.enters(from_to(now, 900, 1_200)).await;
    env.sql("UPDATE provider_pauses SET starts_at = starts_at - interval '30 min', ends_at = ends_at - interval '30 min'");
    // The operator resumes the first one before a worker has seen that it began. The second one is over.
    env.ends(Resumed::InForce).await;
    tell_of_pauses(worker.database()).await.unwrap();
    let kinds = env.told(organisation);
    let kinds: Vec<&str> = kinds.iter().map(|told| told.split(' ').next().unwrap()).collect();
    assert_eq!(kinds, ["provider.paused", "provider.resumed", "provider.paused", "provider.resumed"]);
    assert!(
        env.happened(now).starts_with("provider.paused -1200, provider.resumed "),
        "{}",
        env.happened(now)
    );
    assert!(
        env.happened(now).ends_with("provider.paused -900, provider.resumed -600"),
        "{}",
        env.happened(now)
    );
}
