//! Who is signed in. Sessions are in memory only, because each has a connection with a person's password: a restart ends them.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use clock::{Monotonic, SharedClock};
use identity::{Entropy, EntropyError, SystemEntropy};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use vendctl::Desk;

/// After this time without a request the person signs in again.
pub(crate) const IDLE_MAX: Duration = Duration::from_mins(15);

/// After this time in any case.
pub(crate) const LENGTH_MAX: Duration = Duration::from_hours(8);

/// A digest of the cookie. The cookie itself is kept by the browser only.
type Key = [u8; 32];

/// One operator who is signed in.
pub(crate) struct Seat {
    pub(crate) desk: Desk,
    /// Every form has it. Another site cannot know it.
    form_token: String,
    began: Monotonic,
}

struct Taken {
    seat: Arc<Seat>,
    used: Monotonic,
}

/// Everyone who is signed in.
pub(crate) struct Sessions {
    clock: SharedClock,
    taken: Mutex<HashMap<Key, Taken>>,
}

impl Seat {
    pub(crate) fn form_token(&self) -> &str {
        &self.form_token
    }

    /// Whether a form was made for this session.
    pub(crate) fn made(&self, form_token: &str) -> bool {
        self.form_token.as_bytes().ct_eq(form_token.as_bytes()).into()
    }
}

impl Sessions {
    pub(crate) fn new(clock: SharedClock) -> Self {
        Self { clock, taken: Mutex::default() }
    }

    /// Begins a session. Returns its cookie.
    pub(crate) fn begin(&self, desk: Desk) -> Result<SecretString, EntropyError> {
        let (cookie, form_token) = (random()?, random()?);
        let now = self.clock.monotonic();
        let taken = Taken { seat: Arc::new(Seat { desk, form_token, began: now }), used: now };
        self.lock().insert(key(&cookie), taken);
        Ok(cookie.into())
    }

    /// The session of a cookie, which is in use now. Sessions that are over end here, with their connections.
    pub(crate) fn find(&self, cookie: &SecretString) -> Option<Arc<Seat>> {
        let now = self.clock.monotonic();
        let mut taken = self.lock();
        taken.retain(|_key, taken| is_on(now, taken.used, taken.seat.began));
        let found = taken.get_mut(&key(cookie.expose_secret()))?;
        found.used = now;
        Some(Arc::clone(&found.seat))
    }

    pub(crate) fn end(&self, cookie: &SecretString) {
        self.lock().remove(&key(cookie.expose_secret()));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Taken>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a session goes on at `now`, when it was last used at `used`.
fn is_on(now: Monotonic, used: Monotonic, began: Monotonic) -> bool {
    now.elapsed_since(used) < IDLE_MAX && now.elapsed_since(began) < LENGTH_MAX
}

fn random() -> Result<String, EntropyError> {
    let mut bytes = [0; 32];
    SystemEntropy.fill(&mut bytes)?;
    Ok(hex::encode(bytes))
}

fn key(cookie: &str) -> Key {
    Sha256::digest(cookie.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use clock::{Clock, ManualClock, SystemClock};

    use super::*;

    #[test]
    fn a_session_ends_after_a_quarter_of_an_hour_without_use_and_after_a_shift() {
        let clock = ManualClock::at(SystemClock.now());
        let began = clock.monotonic();
        clock.advance(IDLE_MAX.saturating_sub(Duration::from_secs(1)));
        assert!(is_on(clock.monotonic(), began, began));
        clock.advance(Duration::from_secs(1));
        assert!(!is_on(clock.monotonic(), began, began));
        clock.advance(LENGTH_MAX.saturating_sub(IDLE_MAX));
        assert!(!is_on(clock.monotonic(), clock.monotonic(), began));
    }
}
