//! Housekeeping: what has done its duty goes, in the worker's role, and nothing else does.

use purchase::{IdempotencyKey, OrganisationId};
use store::{Purged, RetryKey};
use vend::SubscriberIdentifier;

use crate::checks::as_worker;
use crate::town::{Shop, Town};

impl Town {
    /// Moves the session that a shop has into the past.
    fn ages_session(&self, shop: &Shop, by: &str) {
        self.sql(&format!(
            "UPDATE access_tokens SET created_at = created_at - interval '{by}', expires_at = expires_at - interval '{by}'
             WHERE id = {token};
             UPDATE token_families SET created_at = created_at - interval '{by}', expires_at = expires_at - interval '{by}'
             WHERE id = (SELECT family_id FROM access_tokens WHERE id = {token})",
            token = shop.authority.access_token.0
        ));
    }

    /// Gives the family of a shop's session a refresh token that ended a day after it.
    fn refreshes(&self, shop: &Shop) {
        self.sql(&format!(
            "INSERT INTO refresh_tokens (family_id, generation, token_hash, created_at, expires_at, exchanged_at)
             SELECT family_id, 1, sha256('r' || family_id::text::bytea), created_at, expires_at, created_at
             FROM access_tokens WHERE id = {}",
            shop.authority.access_token.0
        ));
    }

    async fn closes_reference(&self, organisation: OrganisationId, reference: &str) {
        let key = RetryKey {
            organisation,
            subscriber: SubscriberIdentifier::parse("04257670465").unwrap(),
            external_reference: reference.into(),
            product: None,
        };
        assert!(self.store.find_for_retry(key).await.unwrap().is_none());
    }

    fn sessions(&self) -> String {
        self.sql(
            "SELECT (SELECT count(*) FROM token_families), (SELECT count(*) FROM access_tokens),
                    (SELECT count(*) FROM refresh_tokens)",
        )
    }
}

#[tokio::test]
async fn a_session_goes_a_week_after_its_end_and_its_access_tokens_a_day_after_theirs() {
    let town = Town::open().await;
    let worker = as_worker(&town).await;
    let [living, day_old, week_old] =
        [town.shop_with(10).await, town.shop_with(10).await, town.shop_with(10).await];
    for shop in [&living, &day_old, &week_old] {
        town.refreshes(shop);
    }
    assert_eq!(worker.purge_expired().await.unwrap(), Purged::default());

    // An access token of these lives an hour, a session a day.
    town.ages_session(&day_old, "26 hours");
    town.ages_session(&week_old, "8 days 1 hour");
    let purged = worker.purge_expired().await.unwrap();
    let expected = Purged { access_tokens: 2, refresh_tokens: 1, token_families: 1, ..Purged::default() };
    assert_eq!(purged, expected);
    assert_eq!(town.sessions(), "2|1|2");
    let left = town.sql("SELECT id FROM access_tokens");
    assert_eq!(left, living.authority.access_token.0.to_string());
    assert_eq!(worker.purge_expired().await.unwrap(), Purged::default());
}

#[tokio::test]
async fn a_refresh_token_stays_as_long_as_it_can_give_a_thief_away() {
    let town = Town::open().await;
    let worker = as_worker(&town).await;
    let shop = town.shop_with(10).await;
    town.refreshes(&shop);
    // The token itself has ended long ago; the session goes on.
    town.sql("UPDATE refresh_tokens SET created_at = now() - interval '20 days', expires_at = now() - interval '13 days'");
    worker.purge_expired().await.unwrap();
    assert_eq!(town.count("refresh_tokens"), 1);
}

#[tokio::test]
async fn nobody_forgets_a_session_before_its_time() {
    let town = Town::open().await;
    let shop = town.shop_with(10).await;
    town.refreshes(&shop);
    let young = "ended less than a week ago";
    // It ended five days ago.
    town.ages_session(&shop, "6 days");
    for forbidden in [
        "DELETE FROM refresh_tokens",
        "WITH gone AS (DELETE FROM token_families RETURNING id) DELETE FROM refresh_tokens WHERE family_id IN (SELECT id FROM gone)",
        "WITH gone AS (DELETE FROM refresh_tokens) DELETE FROM token_families",
        "DELETE FROM access_tokens; DELETE FROM token_families",
    ] {
        let said = town.refusal_in("vendgate_worker", &format!("BEGIN; {forbidden}; COMMIT"));
        assert!(said.contains(young), "{forbidden}: {said}");
    }
    town.sql("UPDATE token_families SET created_at = created_at - interval '3 days', expires_at = expires_at - interval '3 days'");
    town.sql("SET ROLE vendgate_worker; DELETE FROM refresh_tokens");
}

#[tokio::test]
async fn closings_go_long_after_every_confirm_that_they_could_stop() {
    let town = Town::open().await;
    let (worker, shop) = (as_worker(&town).await, town.shop_with(10).await);
    let (organisation, client) = (shop.authority.organisation, shop.authority.client);
    for reference in ["old", "young", "closed-again"] {
        town.closes_reference(organisation, reference).await;
    }
    for key in ["old", "young"] {
        let key = IdempotencyKey::parse(key).unwrap();
        assert!(town.store.close_key(organisation, client, key).await.unwrap().is_none());
    }
    town.sql("UPDATE closed_references SET closed_at = now() - interval '25 hours' WHERE external_reference <> 'young'");
    town.sql(
        "UPDATE closed_keys SET closed_at = now() - interval '61 minutes' WHERE idempotency_key = 'old'",
    );
    town.closes_reference(organisation, "closed-again").await;

    let purged = worker.purge_expired().await.unwrap();
    assert_eq!(purged, Purged { closed_references: 1, closed_keys: 1, ..Purged::default() });
    let left =
        "SELECT string_agg(external_reference, ' ' ORDER BY external_reference) FROM closed_references";
    assert_eq!(town.sql(left), "closed-again young");
    assert_eq!(town.sql("SELECT idempotency_key FROM closed_keys"), "young");
}

#[tokio::test]
async fn nobody_clears_a_closing_away_before_its_time() {
    let town = Town::open().await;
    let shop = town.shop_with(10).await;
    town.closes_reference(shop.authority.organisation, "young").await;
    let said = town.refusal_in("vendgate_worker", "DELETE FROM closed_references");
    assert!(said.contains("the reference was closed within the day"), "{said}");
    for role in ["vendgate_api", "vendgate_operator"] {
        let said = town.refusal_in(role, "DELETE FROM closed_references");
        assert!(said.contains("permission denied"), "{role}: {said}");
    }
}

#[tokio::test]
async fn a_heap_is_cleared_away_in_small_transactions() {
    let town = Town::open().await;
    let (worker, shop) = (as_worker(&town).await, town.shop_with(10).await);
    town.sql(&format!(
        "INSERT INTO closed_references SELECT {}, 'meter', number, now() - interval '2 days'
         FROM generate_series(1, 12000) AS number",
        shop.authority.organisation.0
    ));
    assert_eq!(worker.purge_expired().await.unwrap().closed_references, 12_000);
}

#[tokio::test]
async fn one_clears_away_at_a_time() {
    let town = Town::open().await;
    let (worker, shop) = (as_worker(&town).await, town.shop_with(10).await);
    town.ages_session(&shop, "30 days");
    let other = town.session().await;
    other
        .batch_execute("BEGIN; SELECT pg_advisory_xact_lock(hashtextextended('vendgate.housekeeping', 0))")
        .await
        .unwrap();
    assert_eq!(worker.purge_expired().await.unwrap(), Purged::default());
    other.batch_execute("COMMIT").await.unwrap();
    assert_eq!(worker.purge_expired().await.unwrap().token_families, 1);
}
