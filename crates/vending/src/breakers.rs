//! The circuit breakers of providers: processes share what they count, and a worker pauses the sales of a provider that answers
//! nothing, tries it with a question, and lets the sales go on when it answers. Open purchases are settled meanwhile as always.

use std::{
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use catalogue::BreakerTrial;
use clock::Monotonic;
use database::DatabaseError;
use futures_util::future::join_all;

use crate::{
    Service, Vending,
    answers::{AnswerCounts, Heard},
    measures,
};

/// The interval at which a process shares what it has counted.
const SHARES_EVERY: Duration = Duration::from_secs(2);
/// After this time a process asks again whether any breaker is declared, even if it has counted nothing.
const ASKS_EVERY: Duration = Duration::from_secs(10);
/// Without it, one question to the database that hangs would stop the counting.
const SHARED_WITHIN: Duration = Duration::from_secs(10);

/// The counts of all providers.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    /// Whether any breaker is declared.
    is_wanted: Arc<AtomicBool>,
    providers: Vec<(String, Arc<AnswerCounts>)>,
}

impl Counted {
    /// The counts of a further provider.
    pub(crate) fn add(&mut self, provider_code: &str) -> Arc<AnswerCounts> {
        let answers = Arc::new(AnswerCounts::new(&self.is_wanted));
        self.providers.push((provider_code.to_owned(), Arc::clone(&answers)));
        answers
    }

    fn has_news(&self) -> bool {
        self.providers.iter().any(|(_, answers)| answers.has_news())
    }
}

impl Vending {
    /// Begins to share what this process counts of providers' answers, as long as the service exists. A process that does not is no
    /// less safe: a breaker then knows nothing of its calls.
    pub fn share_answers_from_now_on(&self) {
        let service = Arc::downgrade(&self.0);
        self.0.engine.runtime().spawn(share(service));
    }

    /// Shares at once what this process has counted. For callers that work step by step.
    ///
    /// # Errors
    /// The error of the database. What was counted is lost then.
    pub async fn share_answers(&self) -> Result<(), DatabaseError> {
        self.0.share_answers().await
    }

    /// Pauses the sales of the providers that have been silent too often by what all processes have counted.
    ///
    /// # Errors
    /// The error of the database.
    pub async fn open_breakers(&self) -> Result<(), DatabaseError> {
        for opened in catalogue::open_breakers(self.0.store.database()).await? {
            tracing::error!(
                provider = opened.provider_code,
                kind = opened.kind.as_str(),
                calls = opened.calls,
                silent = opened.silent,
                until = %opened.until,
                "a provider does not answer: its sales are paused"
            );
        }
        Ok(())
    }

    /// Asks each provider whose sales a breaker has paused, if a trial of it is due, and lets the sales go on if it answers. A trial
    /// is a customer check, which buys nothing.
    ///
    /// # Errors
    /// The error of the database. A provider that does not answer is only logged.
    pub async fn try_paused_providers(&self) -> Result<(), DatabaseError> {
        let connected = self.0.providers.keys().cloned().collect();
        let due = catalogue::take_breaker_trials(self.0.store.database(), connected).await?;
        join_all(due.into_iter().map(|trial| self.0.try_provider(trial))).await.into_iter().collect()
    }
}

impl Service {
    async fn share_answers(&self) -> Result<(), DatabaseError> {
        let now = self.clock.monotonic();
        let counted = self.counted.providers.iter().flat_map(|(code, answers)| answers.take(code, now));
        let is_wanted = catalogue::count_provider_answers(self.store.database(), counted.collect()).await?;
        self.counted.is_wanted.store(is_wanted, Ordering::Relaxed);
        Ok(())
    }

    async fn try_provider(&self, trial: BreakerTrial) -> Result<(), DatabaseError> {
        let code = trial.provider_code.as_str();
        let Some(provider) = self.provider(code) else { return Ok(()) };
        let call = match self.numbers.call(&self.store, code, self.clock.monotonic()).await {
            Ok(call) => call,
            Err(error) => {
                let cause: &dyn std::error::Error = &error;
                tracing::warn!(cause, provider = code, "a paused provider could not be tried");
                return Ok(());
            }
        };
        let answer = provider.check(call, trial.product, &trial.subscriber).await;
        // Our own wrong settings say nothing about the provider, so they do not keep the pause.
        let is_there = Heard::of_question(&answer) != Heard::Silence;
        measures::breaker_trial(code, is_there);
        if !is_there {
            tracing::warn!(provider = code, "a paused provider was tried and does not answer");
            return Ok(());
        }
        if catalogue::end_breaker_pause(self.store.database(), trial.pause).await? {
            tracing::info!(provider = code, "a paused provider answers: its sales go on");
        }
        Ok(())
    }
}

/// Ends when the service is gone.
async fn share(service: Weak<Service>) {
    let mut asked: Option<Monotonic> = None;
    loop {
        tokio::time::sleep(SHARES_EVERY).await;
        let Some(service) = service.upgrade() else { return };
        let now = service.clock.monotonic();
        if !service.counted.has_news() && asked.is_some_and(|asked| now.elapsed_since(asked) < ASKS_EVERY) {
            continue;
        }
        asked = Some(now);
        let shared = tokio::time::timeout(SHARED_WITHIN, service.share_answers()).await;
        match shared {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                let cause: &dyn std::error::Error = &error;
                tracing::warn!(cause, "the answers of providers could not be shared with other processes");
            }
            Err(_elapsed) => {
                tracing::warn!("the answers of providers were not shared with other processes in time");
            }
        }
    }
}
