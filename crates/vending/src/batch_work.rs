//! The worker's part of batches: it takes lines within the slots of their providers, and buys each as a confirm does.
//!
//! There is no second way to buy here. A line is bought by `Service::buy_once` under its own idempotency key: the same checks, the
//! same reserve, the same protocol. Before that, the purchase of an earlier worker is looked for, because that one may have died
//! between its reserve and its record. The database admits one purchase under the key of a line, for ever.

use std::time::Duration;

use batch_store::{BatchStore, Ending, TakenLine};
use clock::Monotonic;
use database::DatabaseError;
use failpoint::{Point, hit};
use purchase::{KeyedRequest, RequestHash};
use tokio::task::JoinHandle;
use traces::RequestTrace;
use tracing::Instrument;
use vend::Unanswered;

use crate::{
    Arrival, ConfirmError, Confirmed, Rejection, Service, Vending, WorkerSettings,
    backoff::Backoff,
    confirm::ConfirmRequest,
    line_failures,
    slots::{Slot, Slots},
};

/// How often a line is put back because it could not be bought at that time. The pauses between them add up to more than an order
/// may stay in doubt, which blocks its subscriber.
const TRIES_MAX: u16 = 15;

/// The first pause of a line that is put back. Each one is twice as long as the one before.
const FIRST_PAUSE: Duration = Duration::from_secs(2);

/// The longest pause of a line, also while its provider is paused: the pause may end earlier than planned.
const LONGEST_PAUSE: Duration = Duration::from_mins(5);

/// How long a line waits for the end of a pause that has no planned end.
const PAUSED_PAUSE: Duration = Duration::from_secs(30);

/// How often the record of a line is tried. After that, its lease ends and another worker finds the purchase.
const RECORDS_MAX: u32 = 6;

impl Vending {
    /// Ends lines whose purchases were open when they were bought and have ended since, until `stop` resolves.
    pub async fn settle_batches(&self, settings: &WorkerSettings, stop: impl Future<Output = ()>) {
        let settling = async {
            let batches = BatchStore::on(&self.0.store);
            loop {
                match batches.settle().await {
                    Ok(0) => {}
                    Ok(_some) => continue,
                    Err(error) => log(&error, "the lines of batches could not be settled"),
                }
                tokio::time::sleep(settings.idle_pause()).await;
            }
        };
        tokio::select! {
            () = stop => {}
            () = settling => {}
        }
    }

    /// The slot is released when the line was dealt with.
    pub(crate) fn begin_line(&self, line: TakenLine, slot: Slot, since: Monotonic) -> JoinHandle<()> {
        let vending = self.clone();
        let span = tracing::info_span!(
            "batch line",
            request_id = line.request_id.as_deref(),
            batch = line.claim.batch,
            line = line.claim.line,
            run = line.claim.fence,
        );
        let work = async move {
            let _in_hand = slot;
            vending.0.deal_with(line, since).await;
        };
        self.0.engine.begin(work.instrument(span))
    }
}

impl Service {
    /// Takes lines for the slots that purchases which are due have left free.
    pub(crate) async fn take_lines(
        &self,
        slots: &mut Slots,
    ) -> Result<Vec<(TakenLine, Slot)>, DatabaseError> {
        let free = slots.left();
        let lines = BatchStore::on(&self.store).take(free.clone(), self.settings.longest_wait()).await?;
        let whose =
            lines.iter().map(|line| (line.request.provider_code.as_str(), line.authority.organisation));
        let taken = slots.fill(&free, whose);
        Ok(lines.into_iter().zip(taken).collect())
    }

    async fn deal_with(&self, line: TakenLine, since: Monotonic) {
        let claim = line.claim;
        let ending = Box::pin(self.buy_line(line, since)).await;
        hit(Point::BatchLineBought);
        let mut backoff = Backoff::seeded(claim.batch.unsigned_abs());
        for _ in 0..RECORDS_MAX {
            match BatchStore::on(&self.store).record(claim, ending.clone()).await {
                Ok(true) => return,
                Ok(false) => {
                    tracing::warn!("the line was taken by another worker");
                    return;
                }
                Err(error) => log(&error, "the result of a batch line could not be recorded"),
            }
            backoff.pause().await;
        }
    }

    /// Buys a line, unless it was bought before.
    async fn buy_line(&self, line: TakenLine, since: Monotonic) -> Ending {
        if let Some(ending) = self.bought_before(&line).await {
            return ending;
        }
        if !line.is_running {
            return Ending::PutBack { pause: Duration::ZERO, counts: false };
        }
        let arrival = Arrival {
            at: since,
            request_id: line.request_id.clone(),
            connection: None,
            trace: RequestTrace::off(),
        };
        let confirm = ConfirmRequest {
            authority: line.authority,
            request: line.request.clone(),
            batch: Some(line.claim),
            arrival,
        };
        let keyed = KeyedRequest { key: line.key.clone(), hash: RequestHash::of(&line.request) };
        match self.buy_once(confirm, keyed).await {
            Ok(Confirmed::Now(record) | Confirmed::Before(record))
            | Err(ConfirmError::Failed(record) | ConfirmError::FailedBefore(record)) => {
                Ending::Bought(record.id, record.lifecycle.state.name())
            }
            // Its purchase may be open.
            Err(ConfirmError::Unknown(_) | ConfirmError::TokenUnreadable(_)) => {
                self.bought_before(&line).await.unwrap_or_else(|| later(&line))
            }
            Err(ConfirmError::Rejected(rejection)) => {
                let ending = after(&rejection, &line);
                // Its own purchase may be the open one.
                if matches!(rejection, Rejection::Pending(_)) {
                    self.bought_before(&line).await.unwrap_or(ending)
                } else {
                    ending
                }
            }
        }
    }

    /// What became of the purchase of this line, if there is one. If it cannot be looked for, the line is put back.
    async fn bought_before(&self, line: &TakenLine) -> Option<Ending> {
        match BatchStore::on(&self.store).find_purchase(line).await {
            Ok(found) => found.map(|(id, state)| Ending::Bought(id, state)),
            Err(error) => {
                log(&error, "the purchase of a line could not be looked for");
                Some(Ending::PutBack { pause: FIRST_PAUSE, counts: false })
            }
        }
    }
}

/// What becomes of a line that was rejected. A mistake of the line, a refusal by the provider and an empty wallet are its outcome. What
/// passes by itself is waited for.
fn after(rejection: &Rejection, line: &TakenLine) -> Ending {
    match rejection {
        Rejection::Suspended | Rejection::Revoked => Ending::NotAuthorised,
        Rejection::Paused { until, .. } => {
            let pause = until.map_or(PAUSED_PAUSE, |until| until.wait);
            Ending::PutBack { pause: pause.clamp(FIRST_PAUSE, LONGEST_PAUSE), counts: false }
        }
        Rejection::Overloaded => Ending::PutBack { pause: FIRST_PAUSE, counts: false },
        Rejection::Check { unanswered: Unanswered::Refused(refusal), .. }
            if !refusal.reason.is_transient() =>
        {
            Ending::Rejected(line_failures::stored(rejection))
        }
        Rejection::Check { .. }
        | Rejection::Pending(_)
        | Rejection::KeyClosed
        | Rejection::ReferenceRests { .. }
        | Rejection::CallerGone
        | Rejection::TooLate
        | Rejection::Internal
            if line.tries < TRIES_MAX =>
        {
            later(line)
        }
        Rejection::Check { .. }
        | Rejection::Pending(_)
        | Rejection::KeyClosed
        | Rejection::ReferenceRests { .. }
        | Rejection::CallerGone
        | Rejection::TooLate
        | Rejection::Internal
        | Rejection::UnknownAccount
        | Rejection::AccountNotDebitable
        | Rejection::OtherCurrency { .. }
        | Rejection::UnknownProduct
        | Rejection::UnknownProvider
        | Rejection::OfferRemoved { .. }
        | Rejection::NoDefaultProvider
        | Rejection::SubscriberFormat(_)
        | Rejection::SubscriberNotAllowed
        | Rejection::Price(_)
        | Rejection::Limit { .. }
        | Rejection::Insufficient { .. }
        | Rejection::KeyReused => Ending::Rejected(line_failures::stored(rejection)),
    }
}

fn later(line: &TakenLine) -> Ending {
    let doubled = 1_u32.checked_shl(line.tries.into()).unwrap_or(u32::MAX);
    Ending::PutBack { pause: FIRST_PAUSE.saturating_mul(doubled).min(LONGEST_PAUSE), counts: true }
}

fn log(error: &DatabaseError, what: &'static str) {
    let cause: &dyn std::error::Error = error;
    tracing::error!(cause, "{what}");
}
