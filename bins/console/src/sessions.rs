//! Who is signed in. Sessions are in memory only, because each has a connection with a person's password: a restart ends them.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use clock::{Monotonic, SharedClock};
use identity::{Entropy, EntropyError, SystemEntropy};
use operator_commands::Commands;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};

/// After this time without a request the person signs in again.
pub(crate) const IDLE_MAX: Duration = Duration::from_mins(15);

/// After this time in any case.
pub(crate) const LENGTH_MAX: Duration = Duration::from_hours(8);

/// The maximum number of rehearsals that a session remembers. Beyond it, all are forgotten.
const REHEARSED_MAX: usize = 100;

/// The digest of a cookie. The cookie itself is kept by the browser only.
pub(crate) type Key = [u8; 32];

/// One operator who is signed in.
pub(crate) struct OperatorSession {
    pub(crate) commands: Commands,
    /// Every form has it. Another site cannot know it.
    form_token: String,
    /// The digests of acts that the person has seen rehearsed, and not done since.
    rehearsed: Mutex<HashSet<Key>>,
    began: Monotonic,
}

/// A session and its last request.
struct InUse {
    session: Arc<OperatorSession>,
    used: Monotonic,
}

/// The sessions of the operators who are signed in.
pub(crate) struct Sessions {
    clock: SharedClock,
    in_use: Mutex<HashMap<Key, InUse>>,
}

impl OperatorSession {
    pub(crate) fn form_token(&self) -> &str {
        &self.form_token
    }

    /// Whether a form was made for this session. Digests are compared, so that the time tells nothing about the token.
    pub(crate) fn made(&self, form_token: &str) -> bool {
        key(&self.form_token) == key(form_token)
    }

    /// The person sees the rehearsal of this act.
    pub(crate) fn rehearses(&self, act: Key) {
        let mut rehearsed = self.rehearsed();
        if rehearsed.len() >= REHEARSED_MAX {
            rehearsed.clear();
        }
        rehearsed.insert(act);
    }

    /// Whether the person has seen the rehearsal of exactly this act. That is forgotten at once, so that two requests at the same moment
    /// do it once.
    pub(crate) fn takes_rehearsal(&self, act: &Key) -> bool {
        self.rehearsed().remove(act)
    }

    fn rehearsed(&self) -> MutexGuard<'_, HashSet<Key>> {
        self.rehearsed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sessions {
    pub(crate) fn new(clock: SharedClock) -> Self {
        Self { clock, in_use: Mutex::default() }
    }

    /// Begins a session. Returns its cookie.
    pub(crate) fn begin(&self, commands: Commands) -> Result<SecretString, EntropyError> {
        let (cookie, form_token) = (random()?, random()?);
        let now = self.clock.monotonic();
        let session = OperatorSession { commands, form_token, rehearsed: Mutex::default(), began: now };
        self.lock().insert(key(&cookie), InUse { session: Arc::new(session), used: now });
        Ok(cookie.into())
    }

    /// The session of a cookie, which is in use now. Sessions that are over end here, with their connections.
    pub(crate) fn find(&self, cookie: &SecretString) -> Option<Arc<OperatorSession>> {
        let now = self.clock.monotonic();
        let mut in_use = self.lock();
        in_use.retain(|_key, each| is_on(now, each.used, each.session.began));
        let found = in_use.get_mut(&key(cookie.expose_secret()))?;
        found.used = now;
        Some(Arc::clone(&found.session))
    }

    pub(crate) fn end(&self, cookie: &SecretString) {
        self.lock().remove(&key(cookie.expose_secret()));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, InUse>> {
        self.in_use.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a session goes on at `now`, when it was last used at `used`.
fn is_on(now: Monotonic, used: Monotonic, began: Monotonic) -> bool {
    now.elapsed_since(used) < IDLE_MAX && now.elapsed_since(began) < LENGTH_MAX
}

/// A random text that cannot be guessed.
pub(crate) fn random() -> Result<String, EntropyError> {
    let mut bytes = [0; 32];
    SystemEntropy.fill(&mut bytes)?;
    Ok(hex::encode(bytes))
}

/// The digest of a secret text.
pub(crate) fn key(cookie: &str) -> Key {
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
