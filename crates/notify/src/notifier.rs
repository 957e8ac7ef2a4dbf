//! Takes what is owed out of the outbox, has it sent, and puts on record what became of it.

use std::sync::Arc;
use std::time::Duration;

use failpoint::{Point, reach};
use futures_util::FutureExt;
use messages::Messages;
use purchase::Channel;
use store::{ClaimedMessage, Delivery, DeliveryOutcome, GivenUp, Store, StoreError};
use tokio::task::JoinSet;

use crate::{Composer, Gateways, NotifySettings, Undelivered, measures};

/// How often it is tried again to put on record what was sent, while the database is away.
const RECORD_AGAIN: u32 = 5;

/// Sends messages. Any number of them may work on one outbox.
#[derive(Clone, Debug)]
pub struct Notifier {
    store: Store,
    desk: Arc<Desk>,
}

/// What sending takes beside the outbox.
#[derive(Debug)]
struct Desk {
    composer: Composer,
    gateways: Gateways,
    settings: NotifySettings,
}

/// What one look into the outbox came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delivered {
    /// Handed over.
    pub sent: u64,
    /// To be tried again.
    pub later: u64,
    /// Not to be tried again.
    pub given_up: u64,
}

impl Notifier {
    /// A notifier for the outbox of `store`. The settings have been [checked](NotifySettings::checked).
    pub fn new(store: Store, messages: Messages, gateways: Gateways, settings: NotifySettings) -> Self {
        let composer = Composer::new(messages, settings.time_zone);
        Self { store, desk: Arc::new(Desk { composer, gateways, settings }) }
    }

    /// Sends everything that is due now, on every channel.
    ///
    /// # Errors
    /// That of the store. What was claimed by then is due again when its lease ends.
    pub async fn deliver_due(&self) -> Result<Delivered, StoreError> {
        let (sms, email) = tokio::try_join!(self.drain(Channel::Sms), self.drain(Channel::Email))?;
        Ok(sms.and(email))
    }

    /// Sends what becomes due until `stop` resolves; then takes nothing more, and lets what is under way end.
    pub async fn run(&self, stop: impl Future<Output = ()>) {
        for channel in Channel::ALL {
            if self.desk.gateways.of(channel).is_none() {
                let channel = channel.as_str();
                tracing::warn!(
                    channel,
                    "no gateway is set up: messages that no other worker sends will be given up"
                );
            }
        }
        let stop = stop.shared();
        tokio::join!(self.tend(Channel::Sms, stop.clone()), self.tend(Channel::Email, stop));
    }

    async fn drain(&self, channel: Channel) -> Result<Delivered, StoreError> {
        let mut all = Delivered::default();
        loop {
            let some = self.round(channel).await?;
            if some == Delivered::default() {
                return Ok(all);
            }
            all = all.and(some);
        }
    }

    /// Each channel has a loop of its own, so that a gateway that hangs holds up nothing but its own messages.
    async fn tend(&self, channel: Channel, stop: impl Future<Output = ()>) {
        let mut stop = std::pin::pin!(stop);
        loop {
            let pause = match self.round(channel).await {
                Ok(some) if some != Delivered::default() => Duration::ZERO,
                Ok(_nothing) => self.desk.settings.poll(),
                Err(error) => {
                    let cause: &dyn std::error::Error = &error;
                    tracing::warn!(cause, channel = channel.as_str(), "the outbox could not be worked on");
                    self.desk.settings.poll()
                }
            };
            tokio::select! {
                biased;
                () = &mut stop => return,
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    /// One handful of a channel's messages. What has been sent is put on record while others are still under way, so that
    /// a crash leaves few to be repeated.
    async fn round(&self, channel: Channel) -> Result<Delivered, StoreError> {
        let settings = &self.desk.settings;
        let due_for = self.desk.due_for(channel);
        let claimed = self.store.claim_messages(channel, due_for, settings.at_once, settings.lease()).await?;
        let mut under_way = JoinSet::new();
        for message in claimed {
            let desk = self.desk.clone();
            under_way.spawn(async move { desk.deliver(message).await });
        }
        let mut delivered = Delivered::default();
        let mut recorded = Ok(());
        while let Some(first) = under_way.join_next().await {
            let mut ended = Vec::from_iter(first.ok());
            while let Some(next) = under_way.try_join_next() {
                ended.extend(next.ok());
            }
            for delivery in &ended {
                delivered.count(channel, delivery.outcome);
            }
            // Those that are under way are not to be abandoned half way because this cannot be written.
            recorded = recorded.and(self.record(ended).await);
            reach(Point::MessageAfterMark);
        }
        recorded.map(|()| delivered)
    }

    /// Tries for a while: what is not on record as sent is sent again.
    async fn record(&self, ended: Vec<Delivery>) -> Result<(), StoreError> {
        for _ in 0..RECORD_AGAIN {
            match self.store.record_deliveries(ended.clone()).await {
                Ok(()) => return Ok(()),
                Err(error) => {
                    let cause: &dyn std::error::Error = &error;
                    tracing::warn!(
                        cause,
                        messages = ended.len(),
                        "deliveries could not be put on record yet"
                    );
                }
            }
            tokio::time::sleep(self.desk.settings.poll()).await;
        }
        self.store.record_deliveries(ended).await
    }
}

impl Desk {
    /// For how long a message must have been due. Where the channel is off, another worker may have its gateway: what
    /// nobody has taken for a while has none.
    fn due_for(&self, channel: Channel) -> Duration {
        match self.gateways.of(channel) {
            Some(_) => Duration::ZERO,
            None => self.settings.unserved_for(),
        }
    }

    async fn deliver(&self, message: ClaimedMessage) -> Delivery {
        let outcome = self.outcome_of(&message).await;
        let (id, attempt) = (message.id, message.attempt);
        if let DeliveryOutcome::GivenUp(why) = outcome {
            tracing::error!(message = %id, attempt, why = why.as_str(), "a message is given up");
        }
        Delivery { id, attempt, outcome }
    }

    async fn outcome_of(&self, message: &ClaimedMessage) -> DeliveryOutcome {
        let Some(gateway) = self.gateways.of(message.id.notice.channel) else {
            return DeliveryOutcome::GivenUp(GivenUp::NoChannel);
        };
        if message.attempt > self.settings.attempts_max {
            return DeliveryOutcome::GivenUp(GivenUp::TooOften);
        }
        let age = message.at.signed_duration_since(message.written_at).to_std().unwrap_or_default();
        if age > self.settings.useful_for() {
            return DeliveryOutcome::GivenUp(GivenUp::TooOld);
        }
        let Some(contents) = &message.contents else { return self.later(message) };
        let Some(letter) = self.composer.letter(message, contents) else {
            return DeliveryOutcome::GivenUp(GivenUp::Nobody);
        };
        reach(Point::MessageBeforeSend);
        match gateway.send(&letter).await {
            Ok(()) => {
                reach(Point::MessageAfterSend);
                DeliveryOutcome::Sent
            }
            Err(undelivered) => self.undelivered(message, &undelivered),
        }
    }

    fn undelivered(&self, message: &ClaimedMessage, undelivered: &Undelivered) -> DeliveryOutcome {
        let cause: &dyn std::error::Error = undelivered;
        tracing::warn!(cause, message = %message.id, attempt = message.attempt, "a message was not taken");
        match undelivered {
            Undelivered::Refused { .. } => DeliveryOutcome::GivenUp(GivenUp::Refused),
            Undelivered::Later { .. } => self.later(message),
        }
    }

    fn later(&self, message: &ClaimedMessage) -> DeliveryOutcome {
        if message.attempt >= self.settings.attempts_max {
            return DeliveryOutcome::GivenUp(GivenUp::TooOften);
        }
        DeliveryOutcome::RetryAfter(self.settings.pause_after(message.attempt))
    }
}

impl Delivered {
    fn count(&mut self, channel: Channel, outcome: DeliveryOutcome) {
        let counter = match outcome {
            DeliveryOutcome::Sent => &mut self.sent,
            DeliveryOutcome::RetryAfter(_) => &mut self.later,
            DeliveryOutcome::GivenUp(_) => &mut self.given_up,
        };
        *counter = counter.saturating_add(1);
        measures::delivered(channel, outcome);
    }

    const fn and(self, other: Self) -> Self {
        Self {
            sent: self.sent.saturating_add(other.sent),
            later: self.later.saturating_add(other.later),
            given_up: self.given_up.saturating_add(other.given_up),
        }
    }
}
