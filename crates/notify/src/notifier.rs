//! Claims due messages from the outbox, sends them, and records the outcomes.

use std::{sync::Arc, time::Duration};

use clock::jittered;
use database::DatabaseError;
use failpoint::{Point, hit};
use futures_util::FutureExt;
use messages::Messages;
use purchase::Channel;
use store::{ClaimedMessage, Delivery, DeliveryOutcome, GivenUp, Store};
use tokio::task::JoinSet;

use crate::{Composer, Gateways, NotifySettings, Undelivered, measures};

/// How often the record of sent messages is retried while the database is away.
const RECORD_AGAIN: u32 = 5;

/// Sends messages. Any number of notifiers may work on one outbox.
#[derive(Clone, Debug)]
pub struct Notifier {
    store: Store,
    sender: Arc<Sender>,
}

/// What sending needs besides the outbox.
#[derive(Debug)]
struct Sender {
    composer: Composer,
    gateways: Gateways,
    settings: NotifySettings,
}

/// The counts of one pass over the outbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delivered {
    /// Handed over.
    pub sent: u64,
    /// To be retried.
    pub later: u64,
    /// Not to be retried.
    pub given_up: u64,
}

impl Notifier {
    /// A notifier for the outbox of `store`. The settings have been [checked](NotifySettings::checked).
    pub fn new(store: Store, messages: Messages, gateways: Gateways, settings: NotifySettings) -> Self {
        let composer = Composer::new(messages, settings.time_zone);
        Self { store, sender: Arc::new(Sender { composer, gateways, settings }) }
    }

    /// Sends everything that is due now, on every channel.
    ///
    /// # Errors
    /// The error of the store. What was claimed by then is due again when its lease ends.
    pub async fn deliver_due(&self) -> Result<Delivered, DatabaseError> {
        let (sms, email) = tokio::try_join!(self.drain(Channel::Sms), self.drain(Channel::Email))?;
        Ok(sms.and(email))
    }

    /// Sends what becomes due until `stop` resolves. Then it claims nothing more and finishes the messages under way.
    pub async fn run(&self, stop: impl Future<Output = ()>) {
        for channel in Channel::ALL {
            if self.sender.gateways.of(channel).is_none() {
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

    async fn drain(&self, channel: Channel) -> Result<Delivered, DatabaseError> {
        let mut all = Delivered::default();
        loop {
            let some = self.round(channel).await?;
            if some == Delivered::default() {
                return Ok(all);
            }
            all = all.and(some);
        }
    }

    /// Each channel has its own loop, so a gateway that hangs delays only its own messages.
    async fn tend(&self, channel: Channel, stop: impl Future<Output = ()>) {
        let mut stop = std::pin::pin!(stop);
        loop {
            let pause = match self.round(channel).await {
                Ok(some) if some != Delivered::default() => Duration::ZERO,
                Ok(_nothing) => self.sender.settings.poll(),
                Err(error) => {
                    let cause: &dyn std::error::Error = &error;
                    tracing::warn!(cause, channel = channel.as_str(), "the outbox could not be worked on");
                    self.sender.settings.poll()
                }
            };
            tokio::select! {
                biased;
                () = &mut stop => return,
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    /// One batch of a channel's messages. Outcomes are recorded while other messages are still under way, so a crash
    /// causes few repeats.
    async fn round(&self, channel: Channel) -> Result<Delivered, DatabaseError> {
        let settings = &self.sender.settings;
        let due_for = self.sender.due_for(channel);
        let claimed = self.store.claim_messages(channel, due_for, settings.at_once, settings.lease()).await?;
        let mut under_way = JoinSet::new();
        for message in claimed {
            let sender = self.sender.clone();
            under_way.spawn(async move { sender.deliver(message).await });
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
            // The messages under way are not abandoned because this record failed.
            recorded = recorded.and(self.record(ended).await);
            hit(Point::MessageAfterMark);
        }
        recorded.map(|()| delivered)
    }

    /// Retries for a while: a sent message that is not recorded is sent again.
    async fn record(&self, ended: Vec<Delivery>) -> Result<(), DatabaseError> {
        for _ in 0..RECORD_AGAIN {
            match self.store.record_deliveries(ended.clone()).await {
                Ok(()) => return Ok(()),
                Err(error) => {
                    let cause: &dyn std::error::Error = &error;
                    tracing::warn!(cause, messages = ended.len(), "deliveries could not be recorded yet");
                }
            }
            tokio::time::sleep(self.sender.settings.poll()).await;
        }
        self.store.record_deliveries(ended).await
    }
}

impl Sender {
    /// How long a message must have been due before it is claimed. If the channel is off here, another worker may have
    /// its gateway. A message that no worker has claimed for this time has no gateway.
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
            return DeliveryOutcome::GivenUp(GivenUp::NoRecipient);
        };
        hit(Point::MessageBeforeSend);
        match gateway.send(&letter).await {
            Ok(()) => {
                hit(Point::MessageAfterSend);
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
        let seed = message.id.purchase.0.unsigned_abs().wrapping_add(message.attempt.into());
        DeliveryOutcome::RetryAfter(jittered(self.settings.pause_after(message.attempt), seed))
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
