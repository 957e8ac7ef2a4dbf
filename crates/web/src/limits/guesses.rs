//! Each wrong guess of a password delays the next guess, for the guesser only.
//!
//! Attempts are counted by the user that is tried, by the client and the client secret that is presented, and by the
//! network. A caller that does not know the client's secret waits in a separate line and delays no caller that knows
//! it. This holds for callers in the same network, and also where a proxy that the settings do not name makes all
//! networks look like one. Such a guesser cannot succeed, because without the secret no password is right. A separate
//! line for each invented secret does not help it.
//!
//! No user is ever locked out. From any other address the user logs in as always, and from this address after the
//! delay. Attempts wait in a line, so parallel attempts are no faster than sequential ones. A waiting attempt holds
//! nothing but its connection: the database and the password hash are used only when its turn comes.
//!
//! The delay does not depend on which part was wrong, because it would reveal that. Client secrets are not counted
//! separately, because 256 random bits cannot be guessed. A delay of the whole client would let one mistyped password
//! slow down every till of a merchant.

use std::{
    hash::{BuildHasher, Hash, RandomState},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use clock::{Clock, Monotonic};
use tokio::sync::{Mutex as Line, OwnedMutexGuard};

use super::{generations::Generations, network::Network};

/// The recent wrong guesses, by claim and network.
#[derive(Debug)]
pub(crate) struct Guesses {
    first_delay: Duration,
    longest_delay: Duration,
    forgotten_after: Duration,
    /// The guesser chooses the names, and a secret may be among them. So only hashes are kept, which have a fixed size
    /// and reveal nothing. The hash key is random, so a caller cannot aim at another caller's line.
    hasher: RandomState,
    lines: Mutex<Generations<u64, Arc<Line<Tally>>>>,
}

/// The turn of one attempt. The other attempts in the same line wait until this is dropped.
///
/// A turn that is dropped without a result counts as wrong. A right password is answered so much sooner than a wrong
/// one that a guesser need not wait for the answer and could hang up.
#[derive(Debug)]
pub(crate) struct Turn {
    tally: OwnedMutexGuard<Tally>,
    before: Tally,
}

/// The line is so long that waiting in it is pointless.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LineTooLong {
    /// How long the caller should wait before the next attempt.
    pub(crate) wait: Duration,
}

/// Consecutive wrong guesses.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    wrong: u32,
    last_wrong_at: Option<Monotonic>,
}

impl Guesses {
    pub(crate) fn new(
        first_delay: Duration,
        longest_delay: Duration,
        forgotten_after: Duration,
        max: usize,
    ) -> Self {
        let lines = Mutex::new(Generations::new(forgotten_after, max));
        Self { first_delay, longest_delay, forgotten_after, hasher: RandomState::new(), lines }
    }

    /// Waits for the turn of one more attempt at the same `claim`. There is no wait unless another attempt from the
    /// same network is in progress or was wrong recently.
    pub(crate) async fn turn(
        &self,
        origin: Network,
        claim: impl Hash,
        clock: &dyn Clock,
    ) -> Result<Turn, LineTooLong> {
        let key = self.hasher.hash_one((origin, claim));
        let line = self.line(key, clock.monotonic());
        let waiting = tokio::time::timeout(self.longest_delay, line.lock_owned());
        let mut tally = waiting.await.map_err(|_too_long| LineTooLong { wait: self.longest_delay })?;
        tally.forget(self.forgotten_after, clock.monotonic());
        tokio::time::sleep(self.delay(*tally, clock.monotonic())).await;
        let before = *tally;
        *tally = Tally { wrong: before.wrong.saturating_add(1), last_wrong_at: Some(clock.monotonic()) };
        Ok(Turn { tally, before })
    }

    fn line(&self, key: u64, now: Monotonic) -> Arc<Line<Tally>> {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(lines.use_or(key, now, Arc::default))
    }

    /// What is left of the delay after the last wrong guess: twice as long after each, up to a limit.
    fn delay(&self, tally: Tally, now: Monotonic) -> Duration {
        let Some(last_wrong_at) = tally.last_wrong_at else { return Duration::ZERO };
        let doubled = 2_u32.saturating_pow(tally.wrong.saturating_sub(1));
        let delay = self.first_delay.saturating_mul(doubled).min(self.longest_delay);
        delay.saturating_sub(now.elapsed_since(last_wrong_at))
    }
}

impl Turn {
    /// The attempt was refused.
    pub(crate) fn was_wrong(mut self, now: Monotonic) {
        self.tally.last_wrong_at = Some(now);
    }

    /// The attempt was a login, so the caller is not a guesser.
    pub(crate) fn was_right(mut self) {
        *self.tally = Tally::default();
    }

    /// The attempt showed nothing about the password.
    pub(crate) fn was_in_vain(mut self) {
        *self.tally = self.before;
    }
}

impl Tally {
    fn forget(&mut self, after: Duration, now: Monotonic) {
        if self.last_wrong_at.is_some_and(|last| now.elapsed_since(last) >= after) {
            *self = Self::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use clock::SystemClock;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn guesses() -> Guesses {
        Guesses::new(SECOND / 4, SECOND * 8, SECOND * 600, 100)
    }

    fn tally(wrong: u32) -> Tally {
        Tally { wrong, last_wrong_at: Some(at(1_000)) }
    }

    fn at(seconds: u64) -> Monotonic {
        Monotonic::from_origin(Duration::from_secs(seconds))
    }

    #[test]
    fn the_delay_doubles_with_each_wrong_guess_up_to_a_limit() {
        let delays = [1, 2, 3, 6, 7, 60, u32::MAX].map(|wrong| guesses().delay(tally(wrong), at(1_000)));
        let expected = [250, 500, 1_000, 8_000, 8_000, 8_000, 8_000].map(Duration::from_millis);
        assert_eq!(delays, expected);
        assert_eq!(guesses().delay(tally(6), at(1_003)), SECOND * 5);
        assert_eq!(guesses().delay(tally(6), at(1_009)), Duration::ZERO);
        assert_eq!(guesses().delay(Tally::default(), at(1_000)), Duration::ZERO);
    }

    #[test]
    fn wrong_guesses_are_forgotten_some_time_after_the_last() {
        let mut tally = tally(6);
        tally.forget(SECOND * 600, at(1_599));
        assert_eq!(tally.wrong, 6);
        tally.forget(SECOND * 600, at(1_600));
        assert_eq!(tally.wrong, 0);
    }

    /// Short enough for a test to wait for.
    const BEAT: Duration = Duration::from_millis(50);

    async fn turn(guesses: &Guesses, address: &str, username: &str) -> Result<Turn, LineTooLong> {
        let origin = Network::of(address.parse().unwrap());
        guesses.turn(origin, ("KGALE", username), &SystemClock).await
    }

    fn elapsed(since: Monotonic) -> Duration {
        SystemClock.monotonic().elapsed_since(since)
    }

    #[tokio::test]
    async fn only_the_guesser_waits_until_the_password_was_right() {
        let guesses = Guesses::new(BEAT, BEAT * 100, SECOND * 600, 100);
        for _ in 0..3 {
            turn(&guesses, "192.0.2.1", "till").await.unwrap().was_wrong(SystemClock.monotonic());
        }
        let asked = SystemClock.monotonic();
        for (address, username) in [("192.0.2.2", "till"), ("192.0.2.1", "auditor")] {
            turn(&guesses, address, username).await.unwrap().was_right();
        }
        assert!(elapsed(asked) < BEAT * 4);
        turn(&guesses, "192.0.2.1", "till").await.unwrap().was_right();
        assert!(elapsed(asked) >= BEAT * 3, "50, 100, 200 ms, minus the time that has passed");
        let asked = SystemClock.monotonic();
        turn(&guesses, "192.0.2.1", "till").await.unwrap().was_right();
        assert!(elapsed(asked) < BEAT * 4, "a right password resets the delay");
    }

    #[tokio::test]
    async fn a_guess_counts_if_its_caller_hangs_up() {
        let guesses = Guesses::new(BEAT, BEAT * 100, SECOND * 600, 100);
        let asked = SystemClock.monotonic();
        for _ in 0..3 {
            drop(turn(&guesses, "192.0.2.1", "till").await.unwrap());
        }
        turn(&guesses, "192.0.2.1", "till").await.unwrap().was_in_vain();
        assert!(elapsed(asked) >= BEAT * (1 + 2 + 4), "{:?}", elapsed(asked));
        let tally = *turn(&guesses, "192.0.2.1", "till").await.unwrap().tally;
        assert_eq!(tally.wrong, 4, "an attempt without a result does not count");
    }

    #[tokio::test]
    async fn guesses_at_the_same_time_are_made_one_after_the_other() {
        let guesses = Guesses::new(BEAT, BEAT * 100, SECOND * 600, 100);
        let asked = SystemClock.monotonic();
        let guess = async || {
            turn(&guesses, "192.0.2.1", "till").await.unwrap().was_wrong(SystemClock.monotonic());
        };
        tokio::join!(guess(), guess(), guess(), guess());
        assert!(elapsed(asked) >= BEAT * (1 + 2 + 4), "{:?}", elapsed(asked));
    }

    #[tokio::test]
    async fn an_attempt_in_a_line_that_does_not_move_is_told_how_long_to_wait() {
        let guesses = Guesses::new(BEAT, BEAT * 2, SECOND * 600, 100);
        let first = turn(&guesses, "192.0.2.1", "till").await.unwrap();
        let second = turn(&guesses, "192.0.2.1", "till").await;
        assert_eq!(second.map(drop), Err(LineTooLong { wait: BEAT * 2 }));
        drop(first);
        turn(&guesses, "192.0.2.1", "till").await.unwrap().was_right();
    }
}
