//! Access tokens that were recently found to be invalid.
//!
//! Only permanent results are remembered: a token that was never issued, one that has expired, and one that was
//! revoked. A token is issued before any caller can present it: it has 256 random bits and is sent after the commit,
//! even if another server issues it. So no token that is remembered here becomes valid later. A suspension can end, so
//! it is not remembered.

use std::{
    collections::HashSet,
    mem,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use clock::Monotonic;
use directory::CredentialHash;

/// Two generations of tokens. The young one replaces the old one when it is `keep` old or holds `max / 2` tokens. So
/// memory is bounded, and each call costs the same.
#[derive(Debug)]
pub(crate) struct RefusedTokens {
    keep: Duration,
    max: usize,
    generations: Mutex<Generations>,
}

#[derive(Debug)]
struct Generations {
    young: HashSet<CredentialHash>,
    old: HashSet<CredentialHash>,
    young_since: Monotonic,
}

impl RefusedTokens {
    /// Remembers each token for `keep` up to twice `keep`, and at most `max` tokens.
    pub(crate) fn new(keep: Duration, max: usize) -> Self {
        let young_since = Monotonic::from_origin(Duration::ZERO);
        let generations = Generations { young: HashSet::new(), old: HashSet::new(), young_since };
        Self { keep, max, generations: Mutex::new(generations) }
    }

    /// Remembers a token that is permanently invalid.
    pub(crate) fn remember(&self, token: CredentialHash, now: Monotonic) {
        self.with(now, |generations| generations.young.insert(token));
    }

    pub(crate) fn contains(&self, token: CredentialHash, now: Monotonic) -> bool {
        self.with(now, |generations| generations.young.contains(&token) || generations.old.contains(&token))
    }

    fn with<T>(&self, now: Monotonic, act: impl FnOnce(&mut Generations) -> T) -> T {
        let mut generations = self.generations.lock().unwrap_or_else(PoisonError::into_inner);
        let age = now.elapsed_since(generations.young_since);
        if age >= self.keep || generations.young.len() >= (self.max / 2).max(1) {
            generations.old = mem::take(&mut generations.young);
            generations.young_since = now;
        }
        if age >= self.keep.saturating_mul(2) {
            generations.old.clear();
        }
        act(&mut generations)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEEP: Duration = Duration::from_mins(1);

    fn at(seconds: u64) -> Monotonic {
        Monotonic::from_origin(Duration::from_secs(seconds))
    }

    fn token(number: u16) -> CredentialHash {
        let [high, low] = number.to_be_bytes();
        CredentialHash(std::array::from_fn(|index| if index % 2 == 0 { high } else { low }))
    }

    #[test]
    fn a_refused_token_is_known_for_a_while_and_no_other_is() {
        let refused = RefusedTokens::new(KEEP, 100);
        refused.remember(token(1), at(100));
        assert!(refused.contains(token(1), at(100)) && refused.contains(token(1), at(159)));
        assert!(!refused.contains(token(2), at(100)));
        assert!(!refused.contains(token(1), at(220)), "it is kept for at most twice as long");
    }

    #[test]
    fn a_flood_of_refused_tokens_stays_within_the_limit() {
        let refused = RefusedTokens::new(KEEP, 100);
        for number in 0..10_000 {
            refused.remember(token(number), at(100));
            assert!(refused.contains(token(number), at(100)));
        }
        let generations = refused.generations.lock().unwrap();
        assert!(generations.young.len() + generations.old.len() <= 100);
    }
}
