//! Archives: history leaves only by what an archive holds, only for purchases that ended long ago, and only by an
//! operator. The books stay as they were.

use back_office::{
    ArchiveError, ArchiveName, ArchivePage, CheckProgress, Erased, RetentionSettings, apply_retention,
    read_for_archive, remove_archived,
};
use chrono::{DateTime, Utc};
use purchase::Event;
use store::{RetryKey, Store};
use test_kit::database::WORKER;

use crate::env::{FIRST, Merchant, TestEnv, act, vended};
use crate::installation::{LOGINS, Login, env};

const METER: &str = "04000000001";

/// Everything that stays.
const BOOKS: &str = "
    SELECT id, state, total, external_reference, provider_reference, provider_transaction, failure_reason, ended_at,
        beneficiary_phone_number, subscriber_details FROM purchases ORDER BY id;
    SELECT * FROM journal_entries ORDER BY id; SELECT * FROM postings ORDER BY entry_id, amount;
    SELECT id, posted, held FROM accounts ORDER BY id; SELECT * FROM attempts ORDER BY purchase_id, number";

/// A success and a failure of 25 months ago, and a success of now.
struct Sold {
    env: TestEnv,
    worker: Store,
    merchant: Merchant,
    old: Vec<i64>,
    young: i64,
}

impl Sold {
    async fn long_ago() -> Self {
        let env = env().await;
        let (worker, merchant) = (env.store_as(WORKER).await, env.merchant_with(50_000).await);
        let (bought, _) = env.reserved(&merchant, METER, 1_000).await;
        env.records(&bought, vended("V1", 1_000)).await;
        let (failed, _) = env.reserved(&merchant, "04000000002", 1_000).await;
        env.records(&failed, Event::NeverSent { fence: FIRST }).await;
        env.sql(
            "SET session_replication_role = replica;
             UPDATE purchases SET created_at = created_at - interval '25 months', ended_at = ended_at - interval '25 months';
             UPDATE provider_replies SET at = at - interval '25 months'",
        );
        let (young, _) = env.reserved(&merchant, "04000000003", 1_000).await;
        env.records(&young, vended("V3", 1_000)).await;
        Self { env, worker, merchant, old: vec![bought.id.0, failed.id.0], young: young.id.0 }
    }

    fn digests(&self, ids: &[i64]) -> Vec<(i64, [u8; 32])> {
        let digest = |id: &i64| {
            let digits = self
                .env
                .sql(&format!("SELECT encode(sha256(convert_to(archived_history({id}), 'UTF8')), 'hex')"));
            let mut digest = [0; 32];
            hex::decode_to_slice(digits, &mut digest).unwrap();
            (*id, digest)
        };
        ids.iter().map(digest).collect()
    }

    /// The lines of everything that ended two years ago, and the last purchase that was looked at.
    async fn page(&self) -> ArchivePage {
        let cutoff = self.env.sql(
            "SELECT to_char((now() - interval '24 months') AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')",
        );
        let cutoff: DateTime<Utc> = cutoff.parse().unwrap();
        read_for_archive(self.env.operator.database(), 0, cutoff).await.unwrap()
    }

    async fn removes(&self, batch: Vec<(i64, [u8; 32])>) -> Result<u64, ArchiveError> {
        let archive = ArchiveName { sha256: [7; 32], file_name: "2024.jsonl.gz".into() };
        remove_archived(self.env.operator.database(), archive, batch, act()).await
    }

    async fn has_its_books(&self) {
        let found = back_office::check_books(&self.worker, &mut CheckProgress::default()).await.unwrap();
        assert_eq!(found, []);
    }
}

#[tokio::test]
async fn history_leaves_by_what_an_archive_holds_and_the_books_stay() {
    let sold = Sold::long_ago().await;
    let (env, before) = (&sold.env, sold.env.sql(BOOKS));
    let page = sold.page().await;
    assert_eq!((page.lines.len(), page.until), (2, Some(sold.young)));
    assert!(!page.lines.concat().contains("MOLEFE") && !page.lines.concat().contains("26771234567"));

    let mut wrong = sold.digests(&sold.old);
    wrong[1].1[0] ^= 1;
    let refused = sold.removes(wrong).await;
    assert!(matches!(refused, Err(ArchiveError::Differs(_))), "{refused:?}");
    assert_eq!(env.count("purchases WHERE archive_id IS NOT NULL"), 0);

    assert_eq!(sold.removes(sold.digests(&sold.old)).await.unwrap(), 2);
    let of_old = format!("purchase_id <> {}", sold.young);
    assert_eq!(env.count(&format!("purchase_events WHERE {of_old}")), 0);
    assert_eq!(env.count(&format!("provider_replies WHERE {of_old}")), 0);
    assert_eq!(env.sql(BOOKS), before);
    sold.has_its_books().await;
    assert_eq!(sold.removes(sold.digests(&sold.old)).await.unwrap(), 0, "a repeat changes nothing");
    let page = sold.page().await;
    assert_eq!(page.lines, Vec::<String>::new());

    let key = RetryKey {
        organisation: sold.merchant.authority.organisation,
        subscriber: vend::SubscriberIdentifier::parse(METER).unwrap(),
        external_reference: format!("ref-{METER}"),
        product: None,
    };
    let found = env.store.find_for_retry(key).await.unwrap().unwrap();
    assert_eq!(found.record.success.unwrap().tokens.unwrap().wire_form(), crate::env::TOKEN);
    // Retention goes on afterwards, and settles nothing a second time.
    let months = RetentionSettings { personal_data_months: 24, sealed_values_months: 24 };
    let erased = apply_retention(sold.worker.database(), months).await.unwrap();
    assert_eq!(erased, Erased { personal_data: 2, sealed_values: 2 });
    sold.has_its_books().await;
}

#[tokio::test]
async fn history_that_is_needed_does_not_leave_even_with_its_digest() {
    let sold = Sold::long_ago().await;
    let (open, _) = sold.env.reserved(&sold.merchant, "04000000009", 1_000).await;
    let (worker, failed) = (&sold.worker, sold.old[1]);
    let late = worker.record(
        purchase::PurchaseId(failed),
        sold.merchant.authority.organisation,
        vended("LATE", 1_000),
    );
    late.await.unwrap();
    for (id, why) in [(open.id.0, "open"), (sold.young, "young"), (failed, "an open incident")] {
        let refused = sold.removes(sold.digests(&[id])).await;
        assert!(matches!(refused, Err(ArchiveError::Differs(_))), "{why}: {refused:?}");
    }
    assert_eq!(sold.page().await.lines.len(), 1, "only the success may leave");
    sold.env.records(&open, Event::NeverSent { fence: FIRST }).await;
}

#[tokio::test]
async fn no_login_removes_history_in_any_other_way() {
    let sold = Sold::long_ago().await;
    let call = format!(
        "SELECT remove_archived('\\x00', 'x', ARRAY[{}]::bigint[], ARRAY['\\x00'::bytea], 'x', 'x')",
        sold.old[0]
    );
    for login in LOGINS {
        let forger = Login::of(&sold.env.database, login).await;
        for attempt in [
            "DELETE FROM purchase_events",
            "DELETE FROM provider_replies",
            "UPDATE purchases SET archive_id = 1",
            "INSERT INTO archives (sha256, file_name) VALUES (sha256('x'), 'x')",
            "UPDATE archives SET purchases = 0",
            &call,
        ] {
            let said = forger.is_refused(attempt).await;
            assert!(
                said.contains("permission denied") || said.contains("violates"),
                "{login}: {attempt}: {said}"
            );
        }
    }
    let owner = Login::of(&sold.env.database, "test_owner").await;
    let said = owner.is_refused("DELETE FROM purchase_events").await;
    assert!(said.contains("is append-only"), "{said}");
    let said =
        owner.is_refused(&format!("UPDATE purchases SET archive_id = 1 WHERE id = {}", sold.old[0])).await;
    assert!(said.contains("has ended"), "{said}");
    assert_eq!(sold.env.count("purchase_events"), 3, "the end of each");
}
