//! The sign-ins that have begun and wait for the provider. Anyone can begin one, so they are few and short.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use clock::{Monotonic, SharedClock};
use identity::EntropyError;
use openidconnect::{Nonce, PkceCodeVerifier};
use secrecy::{ExposeSecret, SecretString};

use crate::sessions::{Key, key, random};

/// After this time a person begins again.
pub(crate) const ATTEMPT_LENGTH_MAX: Duration = Duration::from_mins(10);

/// The greatest number. With one more, the oldest is forgotten, so a flood of them does not keep out a person who is quick. Each
/// takes less than a kilobyte.
const ATTEMPTS_MAX: usize = 4096;

/// What binds the answer of the provider to the question of the console.
pub(crate) struct Attempt {
    /// The provider sends it back with the browser.
    pub(super) state: String,
    /// The provider puts it into the ID token.
    pub(super) nonce: Nonce,
    /// It proves to the provider that the one who exchanges the code is the one who asked for it.
    pub(super) verifier: PkceCodeVerifier,
}

struct Waiting {
    cookie: Key,
    began: Monotonic,
    attempt: Attempt,
}

/// The sign-ins that wait, the oldest first.
pub(crate) struct Attempts {
    clock: SharedClock,
    waiting: Mutex<VecDeque<Waiting>>,
}

impl Attempt {
    pub(super) fn new() -> Result<Self, EntropyError> {
        let (nonce, verifier) = (Nonce::new(random()?), PkceCodeVerifier::new(random()?));
        Ok(Self { state: random()?, nonce, verifier })
    }
}

impl Attempts {
    pub(super) fn new(clock: SharedClock) -> Self {
        Self { clock, waiting: Mutex::default() }
    }

    /// Keeps an attempt. Returns the cookie of its browser.
    pub(super) fn begin(&self, attempt: Attempt) -> Result<SecretString, EntropyError> {
        let cookie = random()?;
        let began = self.clock.monotonic();
        let mut waiting = self.in_time();
        if waiting.len() >= ATTEMPTS_MAX {
            waiting.pop_front();
        }
        waiting.push_back(Waiting { cookie: key(&cookie), began, attempt });
        Ok(cookie.into())
    }

    /// Takes the attempt of this browser, once, if `state` is that of the attempt. Another state may be an answer to an attempt of another
    /// person, and leaves the attempt as it is. Digests are compared, so that the time tells nothing.
    pub(super) fn take(&self, cookie: &SecretString, state: &str) -> Option<Attempt> {
        let (cookie, state) = (key(cookie.expose_secret()), key(state));
        let mut waiting = self.in_time();
        let place =
            waiting.iter().position(|one| one.cookie == cookie && key(&one.attempt.state) == state)?;
        waiting.remove(place).map(|one| one.attempt)
    }

    /// Those that are not over.
    fn in_time(&self) -> MutexGuard<'_, VecDeque<Waiting>> {
        let now = self.clock.monotonic();
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        while waiting.front().is_some_and(|one| now.elapsed_since(one.began) >= ATTEMPT_LENGTH_MAX) {
            waiting.pop_front();
        }
        waiting
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use clock::{Clock, ManualClock, SystemClock};

    use super::*;

    fn begun(attempts: &Attempts) -> (SecretString, String) {
        let attempt = Attempt::new().unwrap();
        let state = attempt.state.clone();
        (attempts.begin(attempt).unwrap(), state)
    }

    #[test]
    fn a_sign_in_is_finished_once_by_the_browser_that_began_it() {
        let attempts = Attempts::new(Arc::new(SystemClock));
        let ((cookie, state), (other_cookie, other_state)) = (begun(&attempts), begun(&attempts));
        for (cookie, state) in [(&cookie, &other_state), (&other_cookie, &state), (&"x".into(), &state)] {
            assert!(attempts.take(cookie, state).is_none());
        }
        assert!(attempts.take(&cookie, &state).is_some_and(|attempt| attempt.state == state));
        assert!(attempts.take(&cookie, &state).is_none());
        assert!(attempts.take(&other_cookie, &other_state).is_some());
    }

    #[test]
    fn a_sign_in_that_takes_too_long_is_forgotten() {
        let clock = ManualClock::at(SystemClock.now());
        let attempts = Attempts::new(Arc::new(clock.clone()));
        let (cookie, state) = begun(&attempts);
        clock.advance(ATTEMPT_LENGTH_MAX);
        assert!(attempts.take(&cookie, &state).is_none());
    }

    #[test]
    fn of_too_many_sign_ins_the_oldest_are_forgotten() {
        let attempts = Attempts::new(Arc::new(SystemClock));
        let (first, second) = (begun(&attempts), begun(&attempts));
        for _ in 1..ATTEMPTS_MAX {
            begun(&attempts);
        }
        assert_eq!(attempts.in_time().len(), ATTEMPTS_MAX);
        assert!(attempts.take(&first.0, &first.1).is_none());
        assert!(attempts.take(&second.0, &second.1).is_some());
    }
}
