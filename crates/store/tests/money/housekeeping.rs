//! Housekeeping: the worker's role deletes expired rows, and nothing else.

use back_office::Purged;
use purchase::{IdempotencyKey, OrganisationId};
use store::RetryKey;
use vend::SubscriberIdentifier;

use crate::{
    checks::as_worker,
    env::{Merchant, TestEnv},
};

impl TestEnv {
    /// Moves a merchant's session into the past.
    fn ages_session(&self, merchant: &Merchant, by: &str) {
        self.sql(&format!(
            "UPDATE access_tokens SET created_at = created_at - interval '{by}', expires_at = expires_at - interval '{by}'
             WHERE id = {token};
             UPDATE token_families SET created_at = created_at - interval '{by}', expires_at = expires_at - interval '{by}'
             WHERE id = (SELECT family_id FROM access_tokens WHERE id = {token})",
            token = merchant.authority.access_token.0
        ));
    }

    /// Gives the family of a merchant's session a refresh token with the lifetime of its access token.
    fn refreshes(&self, merchant: &Merchant) {
        self.sql(&format!(
            "INSERT INTO refresh_tokens (family_id, generation, token_hash, created_at, expires_at, exchanged_at)
             SELECT family_id, 1, sha256('r' || family_id::text::bytea), created_at, expires_at, created_at
             FROM access_tokens WHERE id = {}",
            merchant.authority.access_token.0
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
    let env = TestEnv::open().await;
    let worker = as_worker(&env).await;
    let [living, day_old, week_old] =
        [env.merchant_with(10).await, env.merchant_with(10).await, env.merchant_with(10).await];
    for merchant in [&living, &day_old, &week_old] {
        env.refreshes(merchant);
    }
    assert_eq!(back_office::purge_expired(worker.database()).await.unwrap(), Purged::default());

    // In these sessions an access token lives one hour and a session lives one day.
    env.ages_session(&day_old, "26 hours");
    env.ages_session(&week_old, "8 days 1 hour");
    let purged = back_office::purge_expired(worker.database()).await.unwrap();
    let expected = Purged { access_tokens: 2, refresh_tokens: 1, token_families: 1, ..Purged::default() };
    assert_eq!(purged, expected);
    assert_eq!(env.sessions(), "2|1|2");
    let left = env.sql("SELECT id FROM access_tokens");
    assert_eq!(left, living.authority.access_token.0.to_string());
    assert_eq!(back_office::purge_expired(worker.database()).await.unwrap(), Purged::default());
}

#[tokio::test]
async fn a_refresh_token_stays_as_long_as_it_can_reveal_a_theft() {
    let env = TestEnv::open().await;
    let worker = as_worker(&env).await;
    let merchant = env.merchant_with(10).await;
    env.refreshes(&merchant);
    // The token itself ended long ago. The session continues.
    env.sql("UPDATE refresh_tokens SET created_at = now() - interval '20 days', expires_at = now() - interval '13 days'");
    back_office::purge_expired(worker.database()).await.unwrap();
    assert_eq!(env.count("refresh_tokens"), 1);
}

#[tokio::test]
async fn a_session_cannot_be_deleted_before_its_time() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(10).await;
    env.refreshes(&merchant);
    let young = "ended less than a week ago";
    // The session ended five days ago.
    env.ages_session(&merchant, "6 days");
    for forbidden in [
        "DELETE FROM refresh_tokens",
        "WITH gone AS (DELETE FROM token_families RETURNING id) DELETE FROM refresh_tokens WHERE family_id IN (SELECT id FROM gone)",
        "WITH gone AS (DELETE FROM refresh_tokens) DELETE FROM token_families",
        "DELETE FROM access_tokens; DELETE FROM token_families",
    ] {
        let said = env.refusal_in("vendgate_worker", &format!("BEGIN; {forbidden}; COMMIT"));
        assert!(said.contains(young), "{forbidden}: {said}");
    }
    env.sql("UPDATE token_families SET created_at = created_at - interval '3 days', expires_at = expires_at - interval '3 days'");
    env.sql("SET ROLE vendgate_worker; DELETE FROM refresh_tokens");
}

#[tokio::test]
async fn closings_go_long_after_every_confirm_that_they_could_stop() {
    let env = TestEnv::open().await;
    let (worker, merchant) = (as_worker(&env).await, env.merchant_with(10).await);
    let (organisation, client) = (merchant.authority.organisation, merchant.authority.client);
    for reference in ["old", "young", "closed-again"] {
        env.closes_reference(organisation, reference).await;
    }
    for key in ["old", "young"] {
        let key = IdempotencyKey::parse(key).unwrap();
        assert!(env.store.close_key(organisation, client, key).await.unwrap().is_none());
    }
    env.sql("UPDATE closed_references SET closed_at = now() - interval '25 hours' WHERE external_reference <> 'young'");
    env.sql("UPDATE closed_keys SET closed_at = now() - interval '61 minutes' WHERE idempotency_key = 'old'");
    env.closes_reference(organisation, "closed-again").await;

    let purged = back_office::purge_expired(worker.database()).await.unwrap();
    assert_eq!(purged, Purged { closed_references: 1, closed_keys: 1, ..Purged::default() });
    let left =
        "SELECT string_agg(external_reference, ' ' ORDER BY external_reference) FROM closed_references";
    assert_eq!(env.sql(left), "closed-again young");
    assert_eq!(env.sql("SELECT idempotency_key FROM closed_keys"), "young");
}

#[tokio::test]
async fn a_closing_cannot_be_deleted_before_its_time() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(10).await;
    env.closes_reference(merchant.authority.organisation, "young").await;
    let said = env.refusal_in("vendgate_worker", "DELETE FROM closed_references");
    assert!(said.contains("the reference was closed within the day"), "{said}");
    for role in ["vendgate_api", "vendgate_operator"] {
        let said = env.refusal_in(role, "DELETE FROM closed_references");
        assert!(said.contains("permission denied"), "{role}: {said}");
    }
}

#[tokio::test]
async fn many_rows_are_deleted_in_small_transactions() {
    let env = TestEnv::open().await;
    let (worker, merchant) = (as_worker(&env).await, env.merchant_with(10).await);
    env.sql(&format!(
        "INSERT INTO closed_references SELECT {}, 'meter', number, now() - interval '2 days'
         FROM generate_series(1, 12000) AS number",
        merchant.authority.organisation.0
    ));
    assert_eq!(back_office::purge_expired(worker.database()).await.unwrap().closed_references, 12_000);
}

#[tokio::test]
async fn only_one_worker_purges_at_a_time() {
    let env = TestEnv::open().await;
    let (worker, merchant) = (as_worker(&env).await, env.merchant_with(10).await);
    env.ages_session(&merchant, "30 days");
    let other = env.session().await;
    other
        .batch_execute("BEGIN; SELECT pg_advisory_xact_lock(hashtextextended('vendgate.housekeeping', 0))")
        .await
        .unwrap();
    assert_eq!(back_office::purge_expired(worker.database()).await.unwrap(), Purged::default());
    other.batch_execute("COMMIT").await.unwrap();
    assert_eq!(back_office::purge_expired(worker.database()).await.unwrap().token_families, 1);
}

#[tokio::test]
async fn a_message_goes_30_days_after_it_was_sent_or_given_up_and_none_before_it_was() {
    let env = TestEnv::open().await;
    let worker = as_worker(&env).await;
    env.sql(
        "INSERT INTO outbox (purchase_id, kind, recipient, channel, written_at, due_at, sent_at, given_up_at, given_up_because)
         SELECT n, 'ISSUED', 'REQUESTER', 'SMS', now() - interval '90 days', now(),
             CASE n WHEN 2 THEN now() - interval '31 days' WHEN 3 THEN now() - interval '29 days' END,
             CASE n WHEN 4 THEN now() - interval '31 days' END, CASE n WHEN 4 THEN 'TOO_OLD' END
         FROM generate_series(1, 4) AS n",
    );
    let purged = back_office::purge_expired(worker.database()).await.unwrap();
    assert_eq!(purged, Purged { messages: 2, ..Purged::default() });
    let left = "SELECT string_agg(purchase_id::text, ' ' ORDER BY purchase_id) FROM outbox";
    assert_eq!(env.sql(left), "1 3", "one waits, and one was sent 29 days ago");

    for kept in [1, 3] {
        let refused = env.refusal_of(&format!("DELETE FROM outbox WHERE purchase_id = {kept}"));
        assert!(refused.contains("is still to be sent, or was sent within the last 30 days"), "{refused}");
    }
}

#[tokio::test]
async fn a_batch_goes_90_days_after_its_end_with_its_lines_and_an_unfinished_one_never_does() {
    let env = TestEnv::open().await;
    let worker = as_worker(&env).await;
    let merchant = env.merchant_with(10).await;
    env.sql(&format!(
        "INSERT INTO batches (organisation_id, client_id, user_id, access_token_id, reference, content_hash, account_id, language,
            currency, amount, lines, open_lines, status, status_since, changed_by)
         SELECT {}, 1, 1, 1, reference, sha256('x'), {}, 'en-BW', 'BWP', 10, 1, open, status, now() - age::interval, {}
         FROM (VALUES ('gone', 'FINISHED', 0, '91 days'), ('young', 'FINISHED', 0, '89 days'), ('running', 'RUNNING', 1, '91 days'))
            AS b (reference, status, open, age);
         INSERT INTO batch_lines (batch_id, number, product, provider_code, subscriber_identifier, beneficiary_phone_number, currency,
            amount, charges_on_top, external_reference, requester_sms, beneficiary_sms, requester_email, beneficiary_email, state, ended_at)
         SELECT id, 1, 'ELECTRICITY', 'P', '04257670465', '26771234567', 'BWP', 10, false, 'r', false, false, false, false,
            CASE open_lines WHEN 0 THEN 'CANCELLED' ELSE 'WAITING' END, CASE open_lines WHEN 0 THEN now() END
         FROM batches",
        merchant.authority.organisation.0, merchant.wallet.0, merchant.authority.user.0
    ));
    let purged = back_office::purge_expired(worker.database()).await.unwrap();
    assert_eq!(purged, Purged { batches: 1, ..Purged::default() });
    assert_eq!(
        env.sql("SELECT string_agg(b.reference || ' ' || l.number, ', ' ORDER BY b.id) FROM batches b JOIN batch_lines l ON l.batch_id = b.id"),
        "young 1, running 1"
    );
    assert_eq!(env.sql("SELECT count(*) FROM batch_lines"), "2");
    for kept in ["young", "running"] {
        let refused = env.refusal_of(&format!("DELETE FROM batches WHERE reference = '{kept}'"));
        assert!(refused.contains("is FINISHED") || refused.contains("is RUNNING"), "{refused}");
    }
}

#[tokio::test]
async fn a_deleted_endpoint_goes_after_30_days_with_its_keys_and_a_living_one_never_does() {
    let env = TestEnv::open().await;
    let worker = as_worker(&env).await;
    let merchant = env.merchant_with(10).await;
    env.sql(&format!(
        "INSERT INTO webhook_endpoints (organisation_id, url, event_types, include_tokens, status, status_since, changed_by)
         SELECT {}, 'https://till.example/', '{{}}', false, status, now() - age::interval, {}
         FROM (VALUES ('DELETED', '31 days'), ('DELETED', '29 days'), ('ACTIVE', '31 days')) AS e (status, age);
         INSERT INTO webhook_keys (endpoint_id, sealed, key_id, public_key, valid_until)
         SELECT e.id, sha512('k') || sha256('k'), 1, 'whpk_', now() - age * interval '1 day'
         FROM webhook_endpoints e, (VALUES (0), (2)) AS k (age)",
        merchant.authority.organisation.0, merchant.authority.user.0
    ));
    let purged = back_office::purge_expired(worker.database()).await.unwrap();
    assert_eq!(purged, Purged { webhook_keys: 3, webhook_endpoints: 1, ..Purged::default() });
    assert_eq!(
        env.sql("SELECT count(*), min(status), max(status) FROM webhook_endpoints"),
        "2|ACTIVE|DELETED"
    );
    assert_eq!(env.sql("SELECT count(*) FROM webhook_keys"), "2");
    let refused = env.refusal_of("DELETE FROM webhook_endpoints WHERE status = 'ACTIVE'");
    assert!(refused.contains("is not deleted long enough"), "{refused}");
}
