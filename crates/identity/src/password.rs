//! Passwords: hashed slowly on purpose, and therefore only a few at a time.
//!
//! Argon2id (RFC 9106) with 19 MiB and two passes, one of the equivalent minima that OWASP recommends: about 20 ms of
//! one core. A caller that can make a server hash can keep it busy. So only passwords of proven clients are hashed.
//! Their memory is bounded and used again. The number of waiting logins is bounded, in total and for each client.

mod memory;
mod queue;

use std::fmt;

use argon2::{
    Algorithm, Argon2, Block, Params, PasswordHasher, Version,
    password_hash::{
        self,
        phc::{Output, PasswordHash},
    },
};
use secrecy::{ExposeSecret, SecretString};
use tokio::task::JoinError;

use crate::{Entropy, EntropyError};
use memory::Memory;
use queue::Queue;

/// In bytes, whatever characters they encode.
pub(crate) const PASSWORD_MAX: usize = 256;
pub(crate) const PASSWORD_MIN: usize = 12;

const MEMORY_KIB: u32 = 19_456;
const PASSES: u32 = 2;
const LANES: u32 = 1;

/// Used where there is no hash to check against, so that the check takes as long. No password matches it.
const DUMMY_HASH: &str = "$argon2id$v=19$m=19456,t=2,p=1$bm9ib2R5IGlzIGhlcmU$\
                      AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// Checks passwords, a few at a time.
pub(crate) struct Passwords {
    memory: Memory,
    queue: Queue,
}

/// Why a password could not be checked.
#[derive(Debug)]
pub(crate) enum Unchecked {
    /// Too many checks are waiting, in total or for this client.
    Busy,
    /// The task of the check ended early.
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
    /// `at_once` checks run at a time, each in 19 MiB that are kept for the next check. Another `queue_max` checks
    /// may wait.
    pub(crate) fn new(at_once: usize, queue_max: usize) -> Self {
        let memory = Memory::of(at_once, hasher().params().block_count());
        Self { memory, queue: Queue::new(at_once.saturating_add(queue_max)) }
    }

    /// Whether `password` belongs to `hash`, for a login of this OAuth client. If there is no hash, the answer no takes
    /// as long.
    pub(crate) async fn check(
        &self,
        client: i64,
        password: SecretString,
        hash: Option<String>,
    ) -> Result<bool, Unchecked> {
        let place = self.queue.enter(client).ok_or(Unchecked::Busy)?;
        let mut buffer = self.memory.take().await;
        let checked = tokio::task::spawn_blocking(move || {
            // The work itself holds both. A caller that goes away does not free the place for another one.
            let _place = place;
            matches(&password, hash.as_deref(), buffer.blocks())
        });
        checked.await.map_err(Unchecked::Lost)
    }
}

impl fmt::Debug for Passwords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Passwords").field("queue", &self.queue).finish_non_exhaustive()
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

fn matches(password: &SecretString, hash: Option<&str>, memory: &mut [Block]) -> bool {
    let password = password.expose_secret().as_bytes();
    let hash = hash.filter(|_| password.len() <= PASSWORD_MAX).unwrap_or(DUMMY_HASH);
    let bounded = password.get(..PASSWORD_MAX).unwrap_or(password);
    PasswordHash::new(hash).is_ok_and(|hash| is_hash_of(&hash, bounded, memory))
}

/// Does what `PasswordVerifier` does, but in our own memory. A hash with costs other than ours, for example with more
/// memory, matches nothing: all stored hashes were made by [`hash`].
fn is_hash_of(expected: &PasswordHash, password: &[u8], memory: &mut [Block]) -> bool {
    let (Some(salt), Some(output)) = (&expected.salt, &expected.hash) else { return false };
    let ours = hasher();
    let same_costs = expected.algorithm == Algorithm::Argon2id.ident()
        && expected.version == Some(Version::V0x13.into())
        && Params::try_from(&expected.params).is_ok_and(|params| params == *ours.params());
    let mut computed = [0; Params::DEFAULT_OUTPUT_LEN];
    let is_computed = ours.hash_password_into_with_memory(password, salt, &mut computed, memory).is_ok();
    // `Output` compares in constant time.
    same_costs && is_computed && Output::new(&computed).is_ok_and(|computed| computed == *output)
}

fn hasher() -> Argon2<'static> {
    let params = Params::new(MEMORY_KIB, PASSES, LANES, None);
    let params = params.expect("these costs are within argon2's limits");
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
}

#[cfg(test)]
mod tests {
    use std::{future::poll_fn, pin::pin, task::Poll, time::Duration};

    use super::*;
    use crate::SystemEntropy;

    fn matches(password: &SecretString, hash: Option<&str>) -> bool {
        super::matches(password, hash, &mut vec![Block::new(); hasher().params().block_count()])
    }

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
    fn memory_that_another_password_was_hashed_in_is_as_good_as_new() {
        let passwords: [SecretString; 2] = ["correct horse battery".into(), "battery correct horse".into()];
        let hashes = passwords.each_ref().map(|password| hash(password, &SystemEntropy).unwrap());
        let mut memory = vec![Block::new(); hasher().params().block_count()];
        for (password, hash) in passwords.iter().zip(&hashes).chain(passwords.iter().zip(&hashes)) {
            assert!(super::matches(password, Some(hash), &mut memory));
        }
        assert!(!super::matches(&passwords[0], Some(&hashes[1]), &mut memory));
    }

    #[test]
    fn a_hash_of_other_costs_matches_nothing() {
        let password = "correct horse battery".into();
        let hash = hash(&password, &SystemEntropy).unwrap();
        for other in ["m=19455,", "m=65536,", "m=8,"] {
            assert!(!matches(&password, Some(&hash.replace("m=19456,", other))), "{other}");
        }
        for other in [hash.replace("argon2id", "argon2i"), hash.replace("v=19", "v=16"), "x".into()] {
            assert!(!matches(&password, Some(&other)), "{other}");
        }
    }

    #[test]
    fn the_dummy_hash_costs_as_much_to_check_as_a_real_one() {
        let dummy = PasswordHash::new(DUMMY_HASH).unwrap();
        let real = hash(&"correct horse battery".into(), &SystemEntropy).unwrap();
        let real = PasswordHash::new(&real).unwrap();
        assert_eq!(dummy.params, real.params);
        assert_eq!(dummy.hash.unwrap().len(), real.hash.unwrap().len());
    }

    #[test]
    fn a_password_that_is_too_long_matches_nothing_even_with_a_right_beginning() {
        let right = "x".repeat(PASSWORD_MAX);
        let hash = hash(&right.clone().into(), &SystemEntropy).unwrap();
        assert!(matches(&right.clone().into(), Some(&hash)));
        assert!(!matches(&format!("{right}x").into(), Some(&hash)));
    }

    #[tokio::test]
    async fn more_checks_than_may_wait_are_turned_away_at_once() {
        let passwords = Passwords::new(1, 0);
        let held = passwords.queue.enter(1);
        assert!(matches!(passwords.check(2, "x".into(), None).await, Err(Unchecked::Busy)));
        drop(held);
        assert!(matches!(passwords.check(2, "x".into(), None).await, Ok(false)));
    }

    #[tokio::test]
    async fn a_check_whose_caller_goes_away_keeps_its_place_until_it_ends() {
        let passwords = Passwords::new(1, 0);
        {
            let mut check = pin!(passwords.check(1, "x".into(), None));
            let waits = poll_fn(|context| Poll::Ready(check.as_mut().poll(context).is_pending()));
            assert!(waits.await);
        }
        assert!(passwords.queue.enter(1).is_none(), "the check still runs");
        let is_free = tokio::time::timeout(Duration::from_secs(10), async {
            while passwords.queue.enter(1).is_none() {
                tokio::task::yield_now().await;
            }
        });
        assert!(is_free.await.is_ok());
    }
}
