//! The money path in Postgres meets the same specification as the store in memory, and answers random histories as that one
//! does.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use database::DatabaseError;
use ledger::{AccountId, Wallet};
use money::Money;
use proptest::{prelude::*, test_runner::TestRunner};
use purchase::{Event, Fence, Handling, OrganisationId, PurchaseId, Record, Rules, Timing};
use purchase_memory::{
    Caller, FinalAnswer, Found, Key, MemoryBench, PurchaseStore, RecordError, Recorded, Reservation,
    ReserveError, ReserveRefusal, Reserved, Unacknowledged,
    history::{Answer, Happening, Shop},
    specification::{Bench, examine},
};
use store::{ClosingOutcome, ForRetry, HeldPurchase, PendingRequest, RetryKey};
use test_kit::purchases::call;
use vend::{Capabilities, ProviderReference, Sale, VendOrder};

use crate::env::{Merchant, TestEnv, pula, timing};

/// The store in Postgres, under the interface of the specification.
struct Postgres<'a> {
    env: &'a TestEnv,
    session: tokio_postgres::Client,
    merchants: Mutex<BTreeMap<OrganisationId, Merchant>>,
    /// The organisation for which time passes.
    newest: Mutex<OrganisationId>,
    declared: Mutex<Capabilities>,
    calls: AtomicU32,
}

impl<'a> Postgres<'a> {
    async fn of(env: &'a TestEnv) -> Self {
        let session = env.session().await;
        session.execute("SET session_replication_role = replica", &[]).await.unwrap();
        Self {
            env,
            session,
            merchants: Mutex::default(),
            newest: Mutex::new(OrganisationId(0)),
            declared: Mutex::default(),
            calls: AtomicU32::new(500_000),
        }
    }

    fn found(&self, record: Record, at: DateTime<Utc>) -> Found {
        let sale = Sale { product: record.product, subscriber: record.subscriber, amount: record.price.net };
        Found {
            id: record.id,
            order: VendOrder { reference: record.provider_reference, sale },
            lifecycle: record.lifecycle,
            success: record.success,
            rules: Rules { declared: *self.declared.lock().unwrap(), timing: timing() },
            at,
        }
    }

    fn found_for_retry(
        &self,
        found: Result<Option<ForRetry>, DatabaseError>,
    ) -> Result<Option<Found>, Unacknowledged> {
        Ok(found.map_err(|_error| Unacknowledged)?.map(|found| self.found(found.record, found.at)))
    }
}

fn retry_key(key: &Key) -> RetryKey {
    RetryKey {
        organisation: key.organisation,
        subscriber: key.subscriber.clone(),
        external_reference: key.external_reference.clone(),
        product: None,
    }
}

#[derive(Debug)]
struct Waiting(Caller);

impl PendingRequest for Waiting {
    fn age(&self) -> Duration {
        self.0.age
    }

    fn is_abandoned(&self) -> bool {
        self.0.has_hung_up
    }
}

#[async_trait]
impl PurchaseStore for Postgres<'_> {
    async fn reserve(&self, reservation: &Reservation, caller: Caller) -> Result<Reserved, ReserveError> {
        let merchant = self.merchants.lock().unwrap()[&reservation.organisation];
        let subscriber = reservation.sale.subscriber.as_str();
        let mut order = self.env.order_with(&merchant, subscriber, 1, reservation.id.0);
        order.price = reservation.price;
        order.request.product = reservation.sale.product;
        order.request.amount = reservation.price.entry;
        order.request.debited_account = reservation.account;
        order.request.external_reference = Some(reservation.external_reference.clone());
        order.provider_reference = reservation.provider_reference;
        order.pending = std::sync::Arc::new(Waiting(caller));
        let refused = match self.env.store.reserve(order).await {
            Ok(reserved) => return Ok(reserved),
            Err(store::ReserveError::Refused(refusal)) => refusal,
            Err(store::ReserveError::Unacknowledged(_)) => return Err(ReserveError::Unacknowledged),
            Err(error) => panic!("{error:?}"),
        };
        Err(ReserveError::Refused(match refused {
            store::ReserveRefusal::Abandoned => ReserveRefusal::CallerGone,
            store::ReserveRefusal::TooLate => ReserveRefusal::TooLate,
            store::ReserveRefusal::UnknownAccount => ReserveRefusal::UnknownAccount,
            store::ReserveRefusal::Pending { .. } => ReserveRefusal::Pending,
            store::ReserveRefusal::ReferenceRests { .. } => ReserveRefusal::ReferenceRests,
            store::ReserveRefusal::Insufficient { gap } => ReserveRefusal::Insufficient { gap },
            other @ (store::ReserveRefusal::Revoked
            | store::ReserveRefusal::Suspended
            | store::ReserveRefusal::NotDebitable
            | store::ReserveRefusal::OtherCurrency(_)
            | store::ReserveRefusal::KeyTaken
            | store::ReserveRefusal::NotOffered
            | store::ReserveRefusal::Paused { .. }
            | store::ReserveRefusal::SubscriberNotAllowed
            | store::ReserveRefusal::KeyClosed
            | store::ReserveRefusal::NoCommissionAccount) => {
                panic!("no rule of the specification: {other:?}")
            }
        }))
    }

    async fn record(&self, id: PurchaseId, event: Event) -> Result<Recorded, RecordError> {
        let organisation = *self.newest.lock().unwrap();
        let recorded = self.env.store.record(id, organisation, event).await;
        recorded.map_err(|error| match error {
            store::RecordError::NoSuchPurchase => RecordError::NoSuchPurchase,
            store::RecordError::Unacknowledged(_) | store::RecordError::Sealing(_) => {
                RecordError::Unacknowledged
            }
        })
    }

    async fn renew(&self, id: PurchaseId, fence: Fence) -> Result<bool, Unacknowledged> {
        let renewed = self.env.store.renew_leases(vec![HeldPurchase { id, fence }]).await;
        Ok(!renewed.map_err(|_error| Unacknowledged)?.is_empty())
    }

    async fn take_turn(&self, id: PurchaseId, fence: Fence) -> Result<bool, Unacknowledged> {
        self.env.store.take_turn(id, fence).await.map_err(|_error| Unacknowledged)
    }

    async fn get(&self, id: PurchaseId) -> Result<Option<Found>, Unacknowledged> {
        match self.env.store.get_record(id).await {
            Ok(record) => Ok(Some(self.found(record, self.now().await))),
            Err(DatabaseError::Corrupt { .. }) => Ok(None),
            Err(_error) => Err(Unacknowledged),
        }
    }

    async fn find(&self, key: &Key) -> Result<Option<Found>, Unacknowledged> {
        self.found_for_retry(self.env.store.find_for_retry(retry_key(key)).await)
    }

    async fn close(
        &self,
        key: &Key,
        known: PurchaseId,
        answer: FinalAnswer,
    ) -> Result<Option<Found>, Unacknowledged> {
        let outcome = match answer {
            FinalAnswer::Bought => ClosingOutcome::Bought,
            FinalAnswer::NotBought => ClosingOutcome::NotBought,
        };
        self.found_for_retry(self.env.store.close_reference(retry_key(key), known, outcome).await)
    }

    async fn wallet(&self, account: AccountId) -> Result<Option<Wallet>, Unacknowledged> {
        let row =
            self.session.query_opt("SELECT posted, held FROM accounts WHERE id = $1", &[&account.0]).await;
        let row = row.map_err(|_error| Unacknowledged)?;
        Ok(row.map(|row| Wallet::new(account, pula(row.get(0)), pula(row.get(1))).unwrap()))
    }
}

#[async_trait]
impl Bench for Postgres<'_> {
    fn store(&self) -> &dyn PurchaseStore {
        self
    }

    fn timing(&self) -> Timing {
        timing()
    }

    fn amount(&self, minor: i64) -> Money {
        pula(minor)
    }

    async fn open_account(&self, handling: Handling, balance: Money) -> (OrganisationId, AccountId) {
        let merchant = self.env.merchant(balance.minor(), handling).await;
        let organisation = merchant.authority.organisation;
        self.merchants.lock().unwrap().insert(organisation, merchant);
        *self.newest.lock().unwrap() = organisation;
        (organisation, merchant.wallet)
    }

    async fn number(&self) -> (PurchaseId, ProviderReference) {
        let id = self.env.store.take_purchase_ids(1).await.unwrap()[0];
        (id, ProviderReference::new(call(self.calls.fetch_add(1, Ordering::Relaxed))))
    }

    async fn now(&self) -> DateTime<Utc> {
        let microseconds = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint";
        let row = self.session.query_one(microseconds, &[]).await.unwrap();
        DateTime::from_timestamp_micros(row.get(0)).unwrap()
    }

    /// Moves all times of the newest organisation back.
    async fn passes(&self, length: Duration) {
        let back = |column: &&str| format!("{column} = {column} - interval '{} ms'", length.as_millis());
        for (table, columns) in [
            (
                "purchases",
                &[
                    "created_at",
                    "ended_at",
                    "lease_until",
                    "claimed_at",
                    "asked_at",
                    "window_closes_at",
                    "last_sent_at",
                    "send_ended_at",
                    "earlier_sends_ended_by",
                    "no_record_since",
                    "due_at",
                ][..],
            ),
            ("closed_references", &["closed_at", "rests_until"][..]),
        ] {
            let columns: Vec<String> = columns.iter().map(back).collect();
            let update = format!("UPDATE {table} SET {} WHERE organisation_id = $1", columns.join(", "));
            let organisation = self.newest.lock().unwrap().0;
            self.session.execute(&update, &[&organisation]).await.unwrap();
        }
    }

    async fn declare(&self, declared: Capabilities) {
        *self.declared.lock().unwrap() = declared;
        self.env.declare(declared).await;
    }
}

#[tokio::test]
async fn the_store_meets_the_specification_of_a_purchase() {
    let env = TestEnv::open().await;
    let violations = examine(&Postgres::of(&env).await).await;
    let sentences: Vec<String> = violations.iter().map(ToString::to_string).collect();
    assert_eq!(sentences, [""; 0]);
}

/// Lets the same happen to both stores. What the database answers at a time, the memory must answer at that time.
async fn happens_to_both(
    postgres: &Postgres<'_>,
    numbers: Vec<u64>,
    handling: Handling,
    declared: Capabilities,
) -> Result<usize, TestCaseError> {
    postgres.declare(declared).await;
    let rules = Rules { declared, timing: timing() };
    let memory = MemoryBench::open(rules, pula(0).currency());
    let mut in_postgres = Shop::open(postgres, handling).await;
    let mut in_memory = Shop::open(&memory, handling).await;
    let mut passed = TimeDelta::zero();
    let mut answers = 0;
    for number in numbers {
        let happening = Happening::numbered(number);
        let (expected, at) = in_postgres.happens(happening).await.unwrap();
        if let Happening::Pass { seconds } = happening {
            passed += TimeDelta::seconds(i64::try_from(seconds).unwrap());
            continue;
        }
        memory.memory().set_time(at + passed);
        let (answered, _) = in_memory.happens(happening).await.unwrap();
        answers += usize::from(answered.answer != Answer::Nothing);
        prop_assert_eq!(answered, expected, "memory and database, after {:?}", happening);
    }
    Ok(answers)
}

#[test]
fn random_histories_get_the_same_answers_from_the_database_and_from_memory() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let env = runtime.block_on(TestEnv::open());
    let postgres = runtime.block_on(Postgres::of(&env));
    let answers = AtomicU32::new(0);
    let histories = (prop::collection::vec(any::<u64>(), 20..60), any::<bool>(), 0_u8..8);
    let configuration = ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() };
    let run = TestRunner::new(configuration).run(&histories, |(numbers, managed, bits)| {
        let handling = if managed { Handling::Managed } else { Handling::SelfManaged };
        let declared = Capabilities {
            repeat_is_safe: bits & 1 != 0,
            remembers_refusals: bits & 2 != 0,
            not_found_counts: bits & 4 != 0,
            ..Capabilities::default()
        };
        let answered = runtime.block_on(happens_to_both(&postgres, numbers, handling, declared))?;
        answers.fetch_add(u32::try_from(answered).unwrap(), Ordering::Relaxed);
        Ok(())
    });
    run.unwrap();
    assert!(answers.into_inner() > 100, "the histories ask too little");
    drop(postgres);
    runtime.block_on(async move { drop(env) });
}
