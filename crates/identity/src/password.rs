//! Passwords: hashed slowly on purpose, and therefore by only so many at a time.
//!
//! Argon2id (RFC 9106) with 19 MiB and two passes, one of the equivalent minima that OWASP recommends: about
//! 20 ms of one core. Whoever can make a server hash can keep it busy, so what waits is bounded too.

use std::{num::NonZero, sync::Arc, thread};

use argon2::{
    Algorithm, Argon2, Params, PasswordHasher, PasswordVerifier, Version,
    password_hash::{self, phc::PasswordHash},
};
use secrecy::{ExposeSecret, SecretString};
use tokio::{sync::Semaphore, task::JoinError};

use crate::{Entropy, EntropyError};

/// In bytes, whatever they spell.
pub(crate) const PASSWORD_MAX: usize = 256;
pub(crate) const PASSWORD_MIN: usize = 12;

const MEMORY_KIB: u32 = 19_456;
const PASSES: u32 = 2;
const LANES: u32 = 1;

/// Stands in where there is no hash to check against, so that checking takes as long. No password matches it.
const NOBODY: &str = "$argon2id$v=19$m=19456,t=2,p=1$bm9ib2R5IGlzIGhlcmU$\
                      AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// Checks passwords, a few at a time.
#[derive(Debug)]
pub(crate) struct Passwords {
    /// One permit for each check that runs.
    running: Arc<Semaphore>,
    /// One permit for each check that runs or waits.
    admitted: Arc<Semaphore>,
}

/// Why a password could not be checked.
#[derive(Debug)]
pub(crate) enum Unchecked {
    /// Too many are waiting.
    Busy,
    /// The check died.
    Lost(JoinError),
}

/// Why a password could not be hashed.
#[derive(Debug, thiserror::Error)]
pub enum HashError {
    #[error("there is no salt")]
    Entropy(#[source] EntropyError),
    #[error("the password cannot be hashed")]
    Hash(#[source] password_hash::Error),
}

impl Passwords {
    /// Twice as many at a time as there are cores, with `queue_max` waiting.
    pub(crate) fn new(queue_max: usize) -> Self {
        let at_once = thread::available_parallelism().map_or(1, NonZero::get).saturating_mul(2);
        Self {
            running: Arc::new(Semaphore::new(at_once)),
            admitted: Arc::new(Semaphore::new(at_once.saturating_add(queue_max))),
        }
    }

    /// Whether `password` is the one behind `hash`; where there is none, takes as long to say no.
    pub(crate) async fn check(
        &self,
        password: SecretString,
        hash: Option<String>,
    ) -> Result<bool, Unchecked> {
        let Ok(admitted) = Arc::clone(&self.admitted).try_acquire_owned() else {
            return Err(Unchecked::Busy);
        };
        let running = Arc::clone(&self.running).acquire_owned().await;
        let running = running.expect("this semaphore is never closed");
        let checked = tokio::task::spawn_blocking(move || {
            // Held by the work itself: a caller that goes away does not make room for another.
            let _permits = (admitted, running);
            matches(&password, hash.as_deref())
        });
        checked.await.map_err(Unchecked::Lost)
    }
}

/// Hashes a new password into a PHC string.
pub(crate) fn hash(password: &SecretString, entropy: &dyn Entropy) -> Result<String, HashError> {
    let mut salt = [0; 16];
    entropy.fill(&mut salt).map_err(HashError::Entropy)?;
    let hashed: PasswordHash = hasher()
        .hash_password_with_salt(password.expose_secret().as_bytes(), &salt)
        .map_err(HashError::Hash)?;
    Ok(hashed.to_string())
}

fn matches(password: &SecretString, hash: Option<&str>) -> bool {
    let password = password.expose_secret().as_bytes();
    let hash = hash.filter(|_| password.len() <= PASSWORD_MAX).unwrap_or(NOBODY);
    let bounded = password.get(..PASSWORD_MAX).unwrap_or(password);
    PasswordHash::new(hash).is_ok_and(|hash| hasher().verify_password(bounded, &hash).is_ok())
}

fn hasher() -> Argon2<'static> {
    let params = Params::new(MEMORY_KIB, PASSES, LANES, None);
    let params = params.expect("these costs are within argon2's limits");
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SystemEntropy;

    #[test]
    fn a_password_matches_its_own_hash_and_no_other_does() {
        let password = "correct horse battery".into();
        let hash = hash(&password, &SystemEntropy).unwrap();
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hash}");
        assert!(matches(&password, Some(&hash)));
        assert!(!matches(&"correct horse batterx".into(), Some(&hash)));
        assert!(!matches(&password, None));
    }

    #[test]
    fn nobody_costs_as_much_to_check_as_somebody() {
        let nobody = PasswordHash::new(NOBODY).unwrap();
        let somebody = hash(&"correct horse battery".into(), &SystemEntropy).unwrap();
        let somebody = PasswordHash::new(&somebody).unwrap();
        assert_eq!(nobody.params, somebody.params);
        assert_eq!(nobody.hash.unwrap().len(), somebody.hash.unwrap().len());
    }

    #[test]
    fn a_password_that_is_too_long_matches_nothing_even_where_it_begins_with_the_right_one() {
        let right = "x".repeat(PASSWORD_MAX);
        let hash = hash(&right.clone().into(), &SystemEntropy).unwrap();
        assert!(matches(&right.clone().into(), Some(&hash)));
        assert!(!matches(&format!("{right}x").into(), Some(&hash)));
    }

    #[tokio::test]
    async fn more_checks_than_may_wait_are_turned_away_at_once() {
        let passwords = Passwords::new(0);
        let all = u32::try_from(passwords.admitted.available_permits()).unwrap();
        let held = Arc::clone(&passwords.admitted).acquire_many_owned(all).await.unwrap();
        assert!(matches!(passwords.check("x".into(), None).await, Err(Unchecked::Busy)));
        drop(held);
        assert!(matches!(passwords.check("x".into(), None).await, Ok(false)));
    }
}
