//! The reference driver: it runs each command of the protocols and passes the result back. It decides nothing.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use provider::{Gate, Provider};
use purchase::{
    Asker, Confirm, ConfirmCommand, ConfirmInput, Event, Fence, Lifecycle, PurchaseId, Resolve,
    ResolveAnswer, ResolveCommand, ResolveInput, State, StateName, Timing,
};
use vend::{CallId, ProviderReference, VendOrder, VendOutcome};

use crate::{
    Caller, FinalAnswer, Found, Key, PurchaseStore, RecordError, Recorded, Reservation, ReserveError,
    ReserveRefusal, Unacknowledged, Verdict,
};

/// What a driver needs besides a store and a provider.
#[derive(Clone)]
pub struct Surroundings {
    /// Monotonic time since any fixed moment. It has to go on while the process is suspended.
    pub monotonic: Arc<dyn Fn() -> Duration + Send + Sync>,
    /// An id for the next call to the provider. It never returns the same twice.
    pub next_call: Arc<dyn Fn() -> CallId + Send + Sync>,
}

impl fmt::Debug for Surroundings {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Surroundings").finish_non_exhaustive()
    }
}

/// Runs the protocols on a store and a provider.
///
/// A driver in production also waits before it repeats a transaction, and renews the lease of its purchase while the
/// provider takes long ([`Timing::renewal`]). A lease that runs out is safe: another process may take the purchase
/// over, and the fence tells.
#[derive(Debug)]
pub struct Driver<'a, S: ?Sized, P: ?Sized> {
    store: &'a S,
    provider: &'a P,
    timing: Timing,
    surroundings: Surroundings,
}

/// How a confirm ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confirmed {
    /// Nothing was reserved, because of this rule.
    Refused(ReserveRefusal),
    /// Nothing was reserved, and the same request may be tried again.
    NotReserved,
    /// It was reserved, by this confirm or by an earlier one, and is in this state now. If the state is open, a retry tells more
    /// later.
    Recorded(StateName),
}

/// How a retry ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retried {
    /// Nothing was bought under the reference.
    NotFound,
    /// The newest purchase of the reference has ended: it was bought, or it failed and nothing was paid.
    Ended(PurchaseId, FinalAnswer),
    /// It is still open: [`Pending`](ResolveAnswer::Pending), or [`Unreachable`](ResolveAnswer::Unreachable) if the
    /// provider could not be asked.
    Open(ResolveAnswer),
}

impl<'a, S: PurchaseStore + ?Sized, P: Provider + ?Sized> Driver<'a, S, P> {
    /// A driver. `timing` is the one that the store uses.
    pub const fn new(store: &'a S, provider: &'a P, timing: Timing, surroundings: Surroundings) -> Self {
        Self { store, provider, timing, surroundings }
    }

    /// Makes a purchase. `arrived` is when its request arrived, by the monotonic clock.
    ///
    /// A reservation is sent once. If it is confirmed again, after an error or after a process that died, nothing is sent: the
    /// answer is the state of the purchase that the first confirm made. If that is open, call retry.
    ///
    /// # Errors
    /// [`Unacknowledged`] if nothing is known about the purchase. It may be bought: only a retry tells.
    pub async fn confirm(
        &self,
        reservation: &Reservation,
        arrived: Duration,
    ) -> Result<Confirmed, Unacknowledged> {
        // After a lost acknowledgement of its reserve, a confirm takes the purchase for its own.
        if let Some(found) = self.store.get(reservation.id).await? {
            return Ok(Confirmed::Recorded(found.lifecycle.state.name()));
        }
        let began = self.now();
        let (mut protocol, mut command) = Confirm::begin::<Option<ReserveRefusal>>(self.timing);
        loop {
            let input = match command {
                ConfirmCommand::Reserve => self.reserve(reservation, began, arrived).await,
                ConfirmCommand::Send { leave_within } => {
                    let order = VendOrder {
                        reference: reservation.provider_reference,
                        sale: reservation.sale.clone(),
                    };
                    ConfirmInput::Answered(self.send(&order, began, leave_within).await)
                }
                ConfirmCommand::Record(event) => match self.store.record(reservation.id, event).await {
                    Ok(_recorded) => ConfirmInput::Recorded,
                    Err(RecordError::Unacknowledged) => ConfirmInput::RecordUnacknowledged,
                    Err(RecordError::NoSuchPurchase) => return Err(Unacknowledged),
                },
                ConfirmCommand::Refuse(Some(refusal)) => return Ok(Confirmed::Refused(refusal)),
                ConfirmCommand::Refuse(None) => return Ok(Confirmed::NotReserved),
                ConfirmCommand::Answer => {
                    let found = self.store.get(reservation.id).await?.ok_or(Unacknowledged)?;
                    return Ok(Confirmed::Recorded(found.lifecycle.state.name()));
                }
            };
            command = protocol.on(input).map_err(|_out_of_turn| Unacknowledged)?;
        }
    }

    async fn reserve(
        &self,
        reservation: &Reservation,
        began: Duration,
        arrived: Duration,
    ) -> ConfirmInput<Option<ReserveRefusal>> {
        let caller = Caller { age: self.since(arrived), has_hung_up: false };
        match self.store.reserve(reservation, caller).await {
            Ok(reserved) => ConfirmInput::Reserved {
                fence: reserved.lifecycle.fence,
                is_new: reserved.is_new,
                since_reserve: self.since(began),
                since_arrival: self.since(arrived),
            },
            Err(ReserveError::Refused(refusal)) => ConfirmInput::ReserveRefused(Some(refusal)),
            Err(ReserveError::NotKept) => ConfirmInput::ReserveNotCommitted(None),
            Err(ReserveError::Unacknowledged) => ConfirmInput::ReserveUnacknowledged,
        }
    }

    /// Sends one request. The provider's adapter checks the gate at the last moment.
    async fn send(&self, order: &VendOrder, began: Duration, leave_within: Duration) -> VendOutcome {
        let clock = self.surroundings.monotonic.clone();
        let gate = Gate::while_true(move || clock().saturating_sub(began) <= leave_within);
        self.provider.vend(order, &gate).await
    }

    /// Tells what became of the newest purchase of a reference, and settles it where evidence allows.
    ///
    /// # Errors
    /// [`Unacknowledged`] if the store does not answer. Nothing is known then.
    pub async fn retry(&self, key: &Key) -> Result<Retried, Unacknowledged> {
        let Some(mut found) = self.store.find(key).await? else { return Ok(Retried::NotFound) };
        loop {
            match self.resolve(Asker::Integrator, &found).await? {
                ResolveAnswer::Final => {}
                open @ (ResolveAnswer::Pending | ResolveAnswer::Unreachable) => {
                    return Ok(Retried::Open(open));
                }
            }
            let ended = self.store.get(found.id).await?.ok_or(Unacknowledged)?;
            let answer = match ended.lifecycle.state {
                State::Successful { .. } => FinalAnswer::Bought,
                State::Failed => FinalAnswer::NotBought,
                State::InFlight(_) | State::InDoubt(_) | State::RetryDue | State::Review(_) => {
                    return Ok(Retried::Open(ResolveAnswer::Pending));
                }
            };
            // A final answer must stay true. If a later purchase was quicker, the answer is about that one.
            match self.store.close(key, found.id, answer).await? {
                Some(newer) => found = newer,
                None => return Ok(Retried::Ended(found.id, answer)),
            }
        }
    }

    /// Brings an open purchase as far as evidence allows.
    ///
    /// # Errors
    /// [`Unacknowledged`] if the purchase has vanished.
    pub async fn resolve(&self, asker: Asker, found: &Found) -> Result<ResolveAnswer, Unacknowledged> {
        let (mut protocol, mut command) = Resolve::begin(asker, &found.lifecycle, found.at, &found.rules);
        let mut work = Work { found, order: found.order.clone(), asked_at: found.at, recorded: self.now() };
        loop {
            let input = match command {
                ResolveCommand::Claim => self.claim(&mut work).await,
                ResolveCommand::TakeTurn(fence) => match self.store.take_turn(found.id, fence).await {
                    Ok(true) => ResolveInput::MayAsk,
                    Ok(false) | Err(Unacknowledged) => ResolveInput::MayNotAsk,
                },
                ResolveCommand::Enquire => {
                    let enquiry = self.provider.enquire((self.surroundings.next_call)(), &work.order).await;
                    ResolveInput::Enquired { enquiry, asked_at: work.asked_at }
                }
                ResolveCommand::RecordRepeat(fence) => {
                    self.record_send(&mut work, Event::SentAgain { fence }).await
                }
                ResolveCommand::RecordAttempt(fence) => self.record_attempt(&mut work, fence).await,
                ResolveCommand::Send { leave_within } => {
                    ResolveInput::Answered(self.send(&work.order, work.recorded, leave_within).await)
                }
                ResolveCommand::Record(event) => match self.store.record(found.id, event).await {
                    Ok(Recorded { lifecycle, at, .. }) => ResolveInput::Recorded { lifecycle, at },
                    Err(RecordError::Unacknowledged) => ResolveInput::RecordUnacknowledged,
                    Err(RecordError::NoSuchPurchase) => return Err(Unacknowledged),
                },
                ResolveCommand::Answer(answer) => return Ok(answer),
            };
            command = protocol.on(input).map_err(|_out_of_turn| Unacknowledged)?;
        }
    }

    async fn claim(&self, work: &mut Work<'_>) -> ResolveInput {
        let Some((lifecycle, at)) = moved(self.store.record(work.found.id, Event::Claimed).await) else {
            return ResolveInput::NotClaimed;
        };
        work.asked_at = at;
        if lifecycle.attempt != work.found.lifecycle.attempt {
            // Another process has made another attempt. Only its reference may be asked about.
            match self.store.get(work.found.id).await {
                Ok(Some(now)) => work.order = now.order,
                Ok(None) | Err(Unacknowledged) => return ResolveInput::NotClaimed,
            }
        }
        ResolveInput::Claimed { lifecycle, at }
    }

    async fn record_attempt(&self, work: &mut Work<'_>, fence: Fence) -> ResolveInput {
        let reference = ProviderReference::new((self.surroundings.next_call)());
        work.order.reference = reference;
        self.record_send(work, Event::AttemptStarted { fence, reference }).await
    }

    async fn record_send(&self, work: &mut Work<'_>, event: Event) -> ResolveInput {
        work.recorded = self.now();
        let recorded = self.store.record(work.found.id, event).await;
        if recorded.is_err() {
            return ResolveInput::SendUnacknowledged;
        }
        match moved(recorded) {
            Some((lifecycle, _)) => {
                ResolveInput::SendRecorded { fence: lifecycle.fence, since_record: self.since(work.recorded) }
            }
            None => ResolveInput::SendRefused,
        }
    }

    fn now(&self) -> Duration {
        (self.surroundings.monotonic)()
    }

    fn since(&self, moment: Duration) -> Duration {
        self.now().saturating_sub(moment)
    }
}

/// What a resolve keeps between two commands.
struct Work<'a> {
    found: &'a Found,
    /// The order of the current attempt.
    order: VendOrder,
    /// The store's time of the claim. No enquiry of this resolve begins before it.
    asked_at: DateTime<Utc>,
    /// When the record of the latest send began, by the monotonic clock.
    recorded: Duration,
}

fn moved(recorded: Result<Recorded, RecordError>) -> Option<(Lifecycle, DateTime<Utc>)> {
    match recorded {
        Ok(Recorded { lifecycle, at, verdict: Verdict::Moved }) => Some((lifecycle, at)),
        Ok(Recorded { verdict: Verdict::AlreadyThere | Verdict::Illegal(_), .. }) | Err(_) => None,
    }
}
