//! Batches: many purchases that are requested at once and bought by workers, each of them once.

use std::time::Duration;

use catalogue::NewPause;
use futures_util::{FutureExt, future::join_all};
use provider::scripted::NextVend::{Refuses, Vends, VendsButReplyIsLost};
use purchase::{PurchaseRequest, SourceChannel};
use tokio::sync::oneshot;
use vend::RefusalReason;
use vending::{
    Batch, BatchError, BatchId, Change, LineFailure, LineState, NewBatch, Rejection, Vending, WorkerSettings,
};

use crate::env::{LEASE_AND_MORE, Merchant, TestEnv, meter, until};

fn quick() -> WorkerSettings {
    WorkerSettings { idle_pause_ms: 5, drain_s: 30, ..WorkerSettings::default() }
}

impl Merchant<'_> {
    /// A batch with a line for each of these meters.
    async fn adds(&self, reference: &str, meters: std::ops::Range<u32>) -> Batch {
        self.wants(reference, meters.map(|number| self.line(reference, number)).collect()).await.unwrap()
    }

    async fn wants(&self, reference: &str, lines: Vec<PurchaseRequest>) -> Result<Batch, BatchError> {
        let reference = reference.to_owned();
        let new = NewBatch { authority: self.authority, request_id: None, reference, lines };
        self.env.vending.add_batch(new).await
    }

    fn line(&self, reference: &str, number: u32) -> PurchaseRequest {
        PurchaseRequest {
            source_channel: SourceChannel::Batch,
            subscriber: meter(&format!("0400000{number:04}")),
            external_reference: Some(format!("{reference}/{number}")),
            ..self.request("10.00")
        }
    }

    async fn reads(&self, id: BatchId) -> Batch {
        self.env.vending.batch(self.authority.organisation, id).await.unwrap().unwrap()
    }

    /// Why each line was not sold, if it was not.
    async fn failures(&self, id: BatchId) -> Vec<Option<LineFailure>> {
        let lines = self.env.vending.batch_lines(self.authority.organisation, id, 0, None, 100).await;
        lines.unwrap().unwrap().iter().map(LineFailure::of).collect()
    }
}

impl TestEnv {
    /// Lets these workers buy and settle until the status of a batch is this.
    async fn works_on(&self, workers: &[&Vending], id: BatchId, status: &str) {
        let becomes_so = async {
            let of = format!("SELECT status FROM batches WHERE id = {}", id.0);
            until(&format!("the batch is {status}"), || self.sql(&of) == status).await;
        };
        self.works_while(workers, becomes_so).await;
    }

    async fn works_while(&self, workers: &[&Vending], this: impl Future<Output = ()>) {
        let settings = quick();
        let (tell, told) = oneshot::channel::<()>();
        let told = told.map(drop).shared();
        let working = workers.iter().map(|worker| async {
            let settling = worker.settle_batches(&settings, told.clone());
            tokio::join!(worker.work(&settings, told.clone()), settling);
        });
        let telling = async {
            this.await;
            tell.send(()).unwrap();
        };
        tokio::join!(join_all(working), telling);
    }

    fn lines(&self, id: BatchId) -> String {
        let states = "SELECT string_agg(state, ' ' ORDER BY number) FROM batch_lines WHERE batch_id =";
        self.sql(&format!("{states} {}", id.0))
    }

    fn vend_count(&self) -> usize {
        self.utility.calls().iter().filter(|call| call.starts_with("vend")).count()
    }

    fn finished_events(&self) -> String {
        self.sql(
            "SELECT string_agg(details #>> '{batch,successful}' || ' of ' || (details #>> '{batch,lines}'), ' ')
             FROM feed_events WHERE kind = 'batch.finished'",
        )
    }
}

#[tokio::test]
async fn each_line_is_an_ordinary_purchase_and_the_end_is_told_once() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    let batch = merchant.adds("salaries", 1..6).await;
    assert_eq!((batch.lines, batch.amount.to_string().as_str()), (5, "BWP 50.00"));
    merchant.has("200.00", "0");
    env.works_on(&[&env.vending], batch.id, "FINISHED").await;

    assert_eq!(env.lines(batch.id), ["SUCCESSFUL"; 5].join(" "));
    assert_eq!((env.vend_count(), env.finished_events().as_str()), (5, "5 of 5"));
    let bought = "purchases WHERE source_channel = 'BATCH' AND external_reference LIKE 'salaries/%'";
    assert_eq!(env.count(bought), 5);
    assert_eq!(env.count("feed_events WHERE kind = 'purchase.succeeded'"), 5);
    let lines = env.vending.batch_lines(merchant.authority.organisation, batch.id, 0, None, 9).await;
    assert!(lines.unwrap().unwrap().iter().all(|line| line.purchase.as_ref().unwrap().token.is_some()));
    env.closes().await;
}

#[tokio::test]
async fn the_same_batch_again_is_the_one_that_is_there() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    let batch = merchant.adds("salaries", 1..4).await;
    assert_eq!(merchant.adds("salaries", 1..4).await, batch);
    let other = merchant.wants("salaries", vec![merchant.line("salaries", 1)]).await;
    assert!(matches!(other, Err(BatchError::OtherContent)), "{other:?}");
    env.works_on(&[&env.vending], batch.id, "FINISHED").await;
    assert_eq!(merchant.adds("salaries", 1..4).await.id, batch.id);
    assert_eq!((env.vend_count(), env.count("batches")), (3, 1));
    env.closes().await;
}

#[tokio::test]
async fn a_batch_with_wrong_lines_names_each_of_them_and_stores_nothing() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    let mut lines: Vec<_> = (1..5).map(|number| merchant.line("salaries", number)).collect();
    lines[1].subscriber = meter("123");
    lines[3].provider_code = "NOBODY".to_owned();
    let Err(BatchError::Lines(wrong)) = merchant.wants("salaries", lines).await else { panic!("accepted") };
    assert_eq!(wrong.iter().map(|(index, _)| *index).collect::<Vec<_>>(), [1, 3]);
    assert!(matches!(&wrong[0].1, Rejection::SubscriberFormat(_)), "{wrong:?}");
    assert_eq!((env.count("batches"), env.count("batch_lines")), (0, 0));
    env.closes().await;
}

#[tokio::test]
async fn a_refusal_and_an_empty_wallet_are_outcomes_of_their_lines() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("30.00").await;
    env.utility.will([Refuses(RefusalReason::Blocked), Vends, Vends]);
    let batch = merchant.adds("salaries", 1..5).await;
    let settings = WorkerSettings { slots_per_provider: 1, ..quick() };
    let ended = until("it is finished", || env.lines(batch.id) == "FAILED SUCCESSFUL SUCCESSFUL FAILED");
    env.works_until(&settings, ended).await;
    let failures = merchant.failures(batch.id).await;
    assert!(matches!(failures[0], Some(LineFailure::Purchase(_))), "{failures:?}");
    assert!(
        matches!(failures[3], Some(LineFailure::Rejected(Rejection::Insufficient { .. }))),
        "{failures:?}"
    );
    assert_eq!(env.finished_events(), "2 of 4");
    env.closes().await;
}

#[tokio::test]
async fn a_line_in_doubt_ends_as_its_purchase_does() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    env.utility.will([VendsButReplyIsLost]);
    let batch = merchant.adds("salaries", 1..2).await;
    let pending = until("its outcome is not known", || env.lines(batch.id) == "PENDING");
    env.works_while(&[&env.vending], pending).await;
    env.time_passes(Duration::from_secs(5));
    env.works_on(&[&env.vending], batch.id, "FINISHED").await;
    assert_eq!((env.lines(batch.id).as_str(), env.vend_count()), ("SUCCESSFUL", 1));
    env.closes().await;
}

#[tokio::test]
async fn two_workers_share_a_batch_and_buy_no_line_twice() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("900.00").await;
    let batch = merchant.adds("salaries", 1..41).await;
    let other = env.other_process().await;
    env.works_on(&[&env.vending, &other.vending], batch.id, "FINISHED").await;
    assert_eq!((env.vend_count(), env.count("purchases WHERE state = 'SUCCESSFUL'")), (40, 40));
    env.closes().await;
}

#[tokio::test]
async fn a_line_whose_worker_died_is_not_bought_again() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    let batch = merchant.adds("salaries", 1..4).await;
    env.utility.will([VendsButReplyIsLost, VendsButReplyIsLost, VendsButReplyIsLost]);
    let doomed = env.doomed_process().await;
    let dies = {
        let vending = doomed.vending.clone();
        doomed.runtime.spawn(async move { vending.work(&quick(), std::future::pending()).await })
    };
    until("all lines are being bought", || env.vend_count() == 3).await;
    dies.abort();
    doomed.runtime.shutdown_background();
    // What the worker that died has not recorded is found, although its lines are taken a second time.
    env.sql("UPDATE batch_lines SET due_at = now() WHERE state = 'BUYING'");
    env.sql("UPDATE purchases SET lease_until = now(), due_at = now() WHERE ended_at IS NULL");
    env.time_passes(LEASE_AND_MORE);
    env.works_on(&[&env.vending], batch.id, "FINISHED").await;
    assert_eq!((env.vend_count(), env.count("purchases")), (3, 3));
    assert_eq!(env.lines(batch.id), ["SUCCESSFUL"; 3].join(" "));
    env.closes().await;
}

#[tokio::test]
async fn a_paused_batch_begins_nothing_and_a_cancelled_one_nothing_more() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    let [paused, cancelled] =
        [merchant.adds("paused", 1..3).await.id, merchant.adds("cancelled", 3..5).await.id];
    let change = async |id, change| env.vending.change_batch(&merchant.authority, id, change).await;
    change(paused, Change::Pause).await.unwrap();
    let done = change(cancelled, Change::Cancel).await.unwrap();
    assert_eq!(done.status.as_str(), "FINISHED");
    assert_eq!(env.finished_events(), "0 of 2");
    assert!(change(cancelled, Change::Resume).await.is_err(), "a finished batch stays so");
    let third = merchant.adds("third", 5..6).await.id;
    env.works_on(&[&env.vending], third, "FINISHED").await;
    assert_eq!(
        (env.lines(paused).as_str(), env.lines(cancelled).as_str()),
        ("WAITING WAITING", "CANCELLED CANCELLED")
    );

    change(paused, Change::Resume).await.unwrap();
    env.works_on(&[&env.vending], paused, "FINISHED").await;
    assert_eq!(env.vend_count(), 3);
    let cancelled = merchant.reads(cancelled).await;
    let waiting = cancelled.progress.iter().find(|share| share.state == LineState::Cancelled).unwrap();
    assert_eq!((waiting.lines, waiting.amount.to_string().as_str()), (2, "BWP 20.00"));
    env.closes().await;
}

#[tokio::test]
async fn a_reserve_of_a_batch_that_was_paused_meanwhile_is_refused() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    let check = env.line.holds_the_next_check();
    let batch = merchant.adds("salaries", 1..2).await.id;
    let meanwhile = async {
        until("its customer is checked", || env.line.is_holding_a_check()).await;
        env.vending.change_batch(&merchant.authority, batch, Change::Pause).await.unwrap();
        check.open();
        until("the line is put back", || env.lines(batch) == "WAITING").await;
    };
    env.works_while(&[&env.vending], meanwhile).await;
    assert_eq!((env.vend_count(), env.count("purchases")), (0, 0));
    let read = merchant.reads(batch).await;
    assert_eq!(read.paused_because.map(vending::PausedBecause::as_str), Some("REQUESTED"));
    env.closes().await;
}

#[tokio::test]
async fn a_batch_whose_user_may_not_buy_any_more_is_paused() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    let batch = merchant.adds("salaries", 1..4).await.id;
    env.sql("UPDATE users SET status = 'SUSPENDED'");
    env.works_on(&[&env.vending], batch, "PAUSED").await;
    until("its lines wait", || env.lines(batch) == "WAITING WAITING WAITING").await;
    assert_eq!(env.vend_count(), 0);
    env.sql("UPDATE users SET status = 'ACTIVE'; DELETE FROM access_tokens");
    env.vending.change_batch(&merchant.authority, batch, Change::Resume).await.unwrap();
    env.works_on(&[&env.vending], batch, "FINISHED").await;
    assert_eq!(env.vend_count(), 3, "the access token of the request is not needed any more");
    env.closes().await;
}

#[tokio::test]
async fn lines_wait_while_their_provider_is_paused() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    env.pauses(NewPause::default()).await;
    let batch = merchant.adds("salaries", 1..3).await.id;
    let waits = until("the lines wait", || {
        env.count("batch_lines WHERE state = 'WAITING' AND fence > 0 AND tries = 0") == 2
    });
    env.works_while(&[&env.vending], waits).await;
    assert_eq!((env.vend_count(), env.lines(batch).as_str()), (0, "WAITING WAITING"));
    env.closes().await;
}

#[tokio::test]
async fn the_database_refuses_a_line_that_denies_its_purchase() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    env.utility.will([VendsButReplyIsLost]);
    let batch = merchant.adds("salaries", 1..2).await.id;
    let doomed = env.doomed_process().await;
    let vending = doomed.vending.clone();
    doomed.runtime.spawn(async move { vending.work(&quick(), std::future::pending()).await });
    until("the line is bought", || env.lines(batch) == "PENDING").await;
    doomed.runtime.shutdown_background();
    for denial in [
        "state = 'WAITING', purchase_id = NULL",
        "state = 'SUCCESSFUL', ended_at = now()",
        "state = 'FAILED', purchase_id = NULL, rejection = 'INSUFFICIENT', ended_at = now()",
        "state = 'CANCELLED', purchase_id = NULL, ended_at = now()",
    ] {
        let refused = env.refuses(&format!("UPDATE batch_lines SET {denial}"));
        assert!(refused.contains("batch"), "{denial}: {refused}");
    }
    let again = env.refuses("UPDATE purchases SET idempotency_use = 2");
    assert!(again.contains("purchases"), "{again}");
    env.closes_with_vends_checked(false).await;
}

#[tokio::test]
async fn after_a_restore_no_batch_goes_on_by_itself() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    let batch = merchant.adds("salaries", 1..3).await.id;
    env.sql("UPDATE feed_numbering SET numbered_by = 'another cluster'; SELECT number_feed_here()");
    let read = merchant.reads(batch).await;
    assert_eq!(read.paused_because.map(vending::PausedBecause::as_str), Some("DATABASE_CHANGED"));
    assert_eq!(env.count("audit_log WHERE action = 'batch.paused'"), 1);
    env.vending.change_batch(&merchant.authority, batch, Change::Resume).await.unwrap();
    env.works_on(&[&env.vending], batch, "FINISHED").await;
    assert_eq!(env.vend_count(), 2);
    env.closes().await;
}
