//! Random histories, to compare two stores: every number is something that happens to a shop.
//!
//! Let the same numbers happen to a shop on a database and to one on a [`MemoryStore`](crate::MemoryStore), whose clock is
//! set to the time that the database answered. Their answers must be equal. Times are told relative to the answer, and
//! purchases by their order, so nothing else differs between two stores.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use ledger::AccountId;
use purchase::{
    Event, Fence, Handling, Lifecycle, OrganisationId, Price, PurchaseId, RefusalSource, Sending, State,
    StateName,
};
use vend::{
    Doubt, Product, ProviderReference, RawReply, Refusal, RefusalReason, Sale, SubscriberIdentifier, Vend,
};

use crate::specification::Bench;
use crate::{Caller, FinalAnswer, Key, Reservation, ReserveError, Unacknowledged, Verdict};

mod happening;

pub use happening::{Happening, News};

/// The balance with which a shop begins, in minor units: four purchases and a little more.
const BALANCE: i64 = 45_000;
const CHARGE: i64 = 150;
const TOTAL: i64 = 10_150;

/// A shop with one wallet.
pub struct Shop<'a> {
    bench: &'a dyn Bench,
    organisation: OrganisationId,
    account: AccountId,
    orders: Vec<Reservation>,
    /// The reference of the current attempt of each order.
    references: Vec<ProviderReference>,
}

/// What a store answers, without what differs between two stores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// To a reserve: the purchase as the reserve left it, and whether this run made it.
    Reserved(Result<(Lifecycle, bool), ReserveError>),
    /// To an event.
    Recorded(Lifecycle, Verdict),
    /// To a turn or a renewal: whether it was made, and the purchase afterwards.
    Did(bool, Lifecycle),
    /// To a retry or a closing: the number of the purchase in the shop, its state, and whether its order has the
    /// reference of the latest attempt.
    Found(Option<(usize, StateName, bool)>),
    /// Nothing was asked: time passed, or the shop has no such purchase.
    Nothing,
}

/// An answer, with what is left of the balance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    /// The answer.
    pub answer: Answer,
    /// The minor units that are posted and held.
    pub balances: (i64, i64),
}

/// Why a shop cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the store did not answer, or a constant of this module is wrong: {0}")]
pub struct Stopped(&'static str);

impl From<Unacknowledged> for Stopped {
    fn from(_: Unacknowledged) -> Self {
        Self("no answer")
    }
}

impl<'a> Shop<'a> {
    /// A shop with a new wallet.
    pub async fn open(bench: &'a dyn Bench, handling: Handling) -> Self {
        let (organisation, account) = bench.open_account(handling, bench.amount(BALANCE)).await;
        Self { bench, organisation, account, orders: Vec::new(), references: Vec::new() }
    }

    /// Lets something happen. Returns the answer and the store's time of it.
    ///
    /// # Errors
    /// [`Stopped`] if the store does not answer.
    pub async fn happens(&mut self, happening: Happening) -> Result<(Answered, DateTime<Utc>), Stopped> {
        let (answer, at) = self.asks(happening).await?;
        let at = match at {
            Some(at) => at,
            None => self.bench.now().await,
        };
        let balances = self.balances().await?;
        Ok((Answered { answer, balances }, at))
    }

    /// That the hold is the total of the open purchases, and that what is missing is the total of the bought ones.
    ///
    /// # Errors
    /// [`Stopped`] if the store does not answer.
    pub async fn adds_up(&self) -> Result<bool, Stopped> {
        let (mut posted, mut held) = (BALANCE, 0);
        for order in &self.orders {
            let found = self.bench.store().get(order.id).await?.ok_or(Stopped("a purchase has vanished"))?;
            match found.lifecycle.state {
                State::Successful { .. } => posted -= TOTAL,
                State::InFlight(_) | State::InDoubt(_) | State::RetryDue | State::Review(_) => held += TOTAL,
                State::Failed => {}
            }
        }
        Ok(self.balances().await? == (posted, held))
    }

    async fn asks(&mut self, happening: Happening) -> Result<(Answer, Option<DateTime<Utc>>), Stopped> {
        match happening {
            Happening::Reserve { subscriber, reference, age_s } => {
                let order = self.order(subscriber, reference).await?;
                self.reserves(order, age_s).await
            }
            Happening::ReserveAgain { purchase } => match self.known(purchase).cloned() {
                // However old it is: it was reserved before.
                Some(order) => self.reserves(order, 3_600).await,
                None => Ok((Answer::Nothing, None)),
            },
            Happening::Record { purchase, news, behind } => self.hears(purchase, news, behind).await,
            Happening::TakeTurn { purchase, behind } => {
                let Some((id, fence)) = self.fence(purchase, behind).await? else {
                    return Ok((Answer::Nothing, None));
                };
                let taken = self.bench.store().take_turn(id, fence).await?;
                self.did(id, taken, |lifecycle| lifecycle.asked_at).await
            }
            Happening::Renew { purchase, behind } => {
                let Some((id, fence)) = self.fence(purchase, behind).await? else {
                    return Ok((Answer::Nothing, None));
                };
                let renewed = self.bench.store().renew(id, fence).await?;
                let lease = TimeDelta::from_std(self.bench.timing().lease).unwrap_or_default();
                self.did(id, renewed, |lifecycle| lifecycle.lease_until?.checked_sub_signed(lease)).await
            }
            Happening::Find { subscriber, reference } => {
                let found = self.bench.store().find(&self.key(subscriber, reference)?).await?;
                Ok((self.found(found.as_ref()), None))
            }
            Happening::Close { purchase, bought } => match self.known(purchase) {
                Some(order) => {
                    let answer = if bought { FinalAnswer::Bought } else { FinalAnswer::NotBought };
                    let newer = self.bench.store().close(&order.key(), order.id, answer).await?;
                    Ok((self.found(newer.as_ref()), None))
                }
                None => Ok((Answer::Nothing, None)),
            },
            Happening::Pass { seconds } => {
                self.bench.passes(Duration::from_secs(seconds)).await;
                Ok((Answer::Nothing, None))
            }
        }
    }

    async fn reserves(
        &mut self,
        order: Reservation,
        age_s: u64,
    ) -> Result<(Answer, Option<DateTime<Utc>>), Stopped> {
        let caller = Caller { age: Duration::from_secs(age_s), has_hung_up: false };
        match self.bench.store().reserve(&order, caller).await {
            Ok(reserved) => {
                let told = (relative(&reserved.lifecycle, reserved.at), reserved.is_new);
                let answer = Answer::Reserved(Ok(told));
                if self.orders.iter().all(|known| known.id != order.id) {
                    self.references.push(order.provider_reference);
                    self.orders.push(order);
                    return Ok((answer, Some(reserved.at)));
                }
                // It was reserved long ago: the time of this run is not reported.
                Ok((answer, None))
            }
            Err(error) => Ok((Answer::Reserved(Err(error)), None)),
        }
    }

    async fn hears(
        &mut self,
        purchase: usize,
        news: News,
        behind: bool,
    ) -> Result<(Answer, Option<DateTime<Utc>>), Stopped> {
        let Some(place) = self.place(purchase) else { return Ok((Answer::Nothing, None)) };
        let Some(id) = self.orders.get(place).map(|order| order.id) else {
            return Ok((Answer::Nothing, None));
        };
        let found = self.bench.store().get(id).await?.ok_or(Stopped("a purchase has vanished"))?;
        let fence =
            if behind { Fence(found.lifecycle.fence.0.saturating_sub(1)) } else { found.lifecycle.fence };
        let asked_at = found.lifecycle.claimed_at.unwrap_or(found.lifecycle.window_closes_at);
        let (_, reference) = self.bench.number().await;
        let event = event(news, fence, (place, asked_at, reference));
        let starts = matches!(event, Event::AttemptStarted { .. });
        let recorded = self.bench.store().record(id, event).await.map_err(|_error| Stopped("no record"))?;
        if starts && recorded.verdict == Verdict::Moved {
            if let Some(current) = self.references.get_mut(place) {
                *current = reference;
            }
        }
        let lifecycle = relative(&recorded.lifecycle, recorded.at);
        Ok((Answer::Recorded(lifecycle, recorded.verdict), Some(recorded.at)))
    }

    async fn did(
        &self,
        id: PurchaseId,
        was_done: bool,
        written_at: impl Fn(&Lifecycle) -> Option<DateTime<Utc>>,
    ) -> Result<(Answer, Option<DateTime<Utc>>), Stopped> {
        let found = self.bench.store().get(id).await?.ok_or(Stopped("a purchase has vanished"))?;
        let at = written_at(&found.lifecycle).filter(|_| was_done).unwrap_or(found.at);
        Ok((Answer::Did(was_done, relative(&found.lifecycle, at)), Some(at)))
    }

    async fn fence(&self, purchase: usize, behind: bool) -> Result<Option<(PurchaseId, Fence)>, Stopped> {
        let Some(order) = self.known(purchase) else { return Ok(None) };
        let found = self.bench.store().get(order.id).await?.ok_or(Stopped("a purchase has vanished"))?;
        let current = found.lifecycle.fence;
        Ok(Some((order.id, if behind { Fence(current.0.saturating_sub(1)) } else { current })))
    }

    fn found(&self, found: Option<&crate::Found>) -> Answer {
        Answer::Found(found.and_then(|found| {
            let place = self.orders.iter().position(|order| order.id == found.id)?;
            let is_current = self.references.get(place) == Some(&found.order.reference);
            Some((place, found.lifecycle.state.name(), is_current))
        }))
    }

    /// The purchase of this number. The numbers begin again after the last purchase.
    fn place(&self, purchase: usize) -> Option<usize> {
        purchase.checked_rem(self.orders.len())
    }

    fn known(&self, purchase: usize) -> Option<&Reservation> {
        self.orders.get(self.place(purchase)?)
    }

    async fn balances(&self) -> Result<(i64, i64), Stopped> {
        let wallet = self.bench.store().wallet(self.account).await?.ok_or(Stopped("no wallet"))?;
        Ok((wallet.posted().minor(), wallet.held().minor()))
    }

    fn key(&self, subscriber: u8, reference: u8) -> Result<Key, Stopped> {
        Ok(Key {
            organisation: self.organisation,
            subscriber: meter(subscriber)?,
            external_reference: format!("order {reference}"),
        })
    }

    async fn order(&self, subscriber: u8, reference: u8) -> Result<Reservation, Stopped> {
        let (id, provider_reference) = self.bench.number().await;
        let amount = |minor| self.bench.amount(minor);
        let net = amount(TOTAL - CHARGE);
        let Key { organisation, subscriber, external_reference } = self.key(subscriber, reference)?;
        Ok(Reservation {
            id,
            organisation,
            account: self.account,
            price: Price {
                entry: net,
                charge: amount(CHARGE),
                net,
                total: amount(TOTAL),
                commission: amount(0),
            },
            sale: Sale { product: Product::Electricity, subscriber, amount: net },
            external_reference,
            provider_reference,
        })
    }
}

fn meter(subscriber: u8) -> Result<SubscriberIdentifier, Stopped> {
    SubscriberIdentifier::parse(&format!("04000000{subscriber:03}"))
        .map_err(|_error| Stopped("no subscriber"))
}

fn event(
    news: News,
    fence: Fence,
    (purchase, asked_at, reference): (usize, DateTime<Utc>, ProviderReference),
) -> Event {
    match news {
        News::Vended(number) => Event::Vended { vend: Box::new(vend(format!("T{purchase}-{number}"))) },
        News::Refused { for_good, is_answer } => {
            let reason = if for_good { RefusalReason::Blocked } else { RefusalReason::Busy };
            let source = if is_answer { RefusalSource::Answer } else { RefusalSource::Enquiry };
            Event::Refused { fence, refusal: Refusal::because(reason), source }
        }
        News::NeverSent => Event::NeverSent { fence },
        News::Lost => Event::Lost { fence, why: Doubt::TimedOut.into() },
        News::Claimed => Event::Claimed,
        News::NoRecord => Event::NoRecord { fence, asked_at },
        News::LeaseReleased => Event::LeaseReleased { fence, why: Doubt::TimedOut.into() },
        News::SentAgain => Event::SentAgain { fence },
        News::AttemptStarted => Event::AttemptStarted { fence, reference },
        News::WindowClosed => Event::WindowClosed { fence },
        News::OperatorNotVended => Event::OperatorNotVended { fence },
    }
}

fn vend(provider_transaction: String) -> Vend {
    Vend {
        tokens: meter_token::TokenSet::parse("12345678901234567890").ok(),
        units: None,
        provider_transaction,
        breakdown: None,
        subscriber_details: None,
        raw_reply: RawReply::default(),
    }
}

/// The purchase with all its times relative to `at`, as times since 1970.
fn relative(lifecycle: &Lifecycle, at: DateTime<Utc>) -> Lifecycle {
    // A time at the end of all times, as that of a window that never closes, stays there.
    let since = |time: DateTime<Utc>| {
        DateTime::UNIX_EPOCH.checked_add_signed(time - at).unwrap_or(DateTime::<Utc>::MAX_UTC)
    };
    let of_sending = |sending: &Sending| Sending {
        last_sent_at: since(sending.last_sent_at),
        ended_at: sending.ended_at.map(since),
        earlier_ended_by: sending.earlier_ended_by.map(since),
        no_record_since: sending.no_record_since.map(since),
        ..*sending
    };
    let state = match &lifecycle.state {
        State::InFlight(sending) => State::InFlight(of_sending(sending)),
        State::InDoubt(sending) => State::InDoubt(of_sending(sending)),
        State::Review(sending) => State::Review(of_sending(sending)),
        ended @ (State::RetryDue | State::Successful { .. } | State::Failed) => ended.clone(),
    };
    Lifecycle {
        state,
        lease_until: lifecycle.lease_until.map(since),
        claimed_at: lifecycle.claimed_at.map(since),
        asked_at: lifecycle.asked_at.map(since),
        window_closes_at: since(lifecycle.window_closes_at),
        ..*lifecycle
    }
}
