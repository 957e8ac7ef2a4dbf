//! A map of bounded size that forgets the entries that were not used for a while.

use std::{collections::HashMap, hash::Hash, mem, time::Duration};

use clock::Monotonic;

/// Two generations. An entry that is used moves to the young one. When the young one is old or large, it replaces the
/// old one, which is forgotten as a whole.
///
/// So no entry that was used within `keep` is forgotten, unless `max` keys are in use at once. Even then, only the
/// least recently used entries are forgotten, so many new keys cannot displace a key that is in regular use. Every call
/// costs the same, except the rare one that frees a generation.
#[derive(Debug)]
pub(super) struct Generations<K, V> {
    keep: Duration,
    /// The limit for both generations together.
    max: usize,
    young: HashMap<K, V>,
    old: HashMap<K, V>,
    young_since: Monotonic,
}

impl<K: Eq + Hash, V> Generations<K, V> {
    pub(super) fn new(keep: Duration, max: usize) -> Self {
        let young_since = Monotonic::from_origin(Duration::ZERO);
        Self { keep, max, young: HashMap::new(), old: HashMap::new(), young_since }
    }

    /// The value of the key, which counts as used now. A key that is not stored gets the value that `anew` makes.
    pub(super) fn use_or(&mut self, key: K, now: Monotonic, anew: impl FnOnce() -> V) -> &mut V {
        self.age(now);
        let known = self.old.remove(&key);
        self.young.entry(key).or_insert_with(|| known.unwrap_or_else(anew))
    }

    fn age(&mut self, now: Monotonic) {
        let aged = now.elapsed_since(self.young_since) >= self.keep;
        if aged || self.young.len() >= (self.max / 2).max(1) {
            self.old = mem::take(&mut self.young);
            self.young_since = now;
        }
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.young.len() + self.old.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Monotonic {
        Monotonic::from_origin(Duration::from_secs(seconds))
    }

    fn generations(max: usize) -> Generations<u32, u32> {
        Generations::new(Duration::from_secs(10), max)
    }

    #[test]
    fn what_is_used_is_remembered_and_what_is_not_is_forgotten() {
        let mut generations = generations(100);
        for second in (20..60).step_by(9) {
            *generations.use_or(1, at(second), || 0) += 1;
        }
        assert_eq!(*generations.use_or(1, at(60), || 0), 5);
        assert_eq!(*generations.use_or(2, at(70), || 7), 7);
        assert_eq!(*generations.use_or(1, at(79), || 0), 5, "it was used within `keep`");
        generations.use_or(2, at(90), || 0);
        generations.use_or(2, at(101), || 0);
        assert_eq!(generations.len(), 1, "a key that is not used leaves nothing behind");
        assert_eq!(*generations.use_or(1, at(101), || 0), 0);
    }

    #[test]
    fn many_new_keys_stay_within_the_limit_and_displace_no_key_in_use() {
        let mut generations = generations(100);
        *generations.use_or(0, at(20), || 0) = 42;
        for anonymous in 1..10_000 {
            generations.use_or(anonymous, at(20), || 0);
            if anonymous % 40 == 0 {
                assert_eq!(*generations.use_or(0, at(20), || 0), 42, "after {anonymous} other keys");
            }
            assert!(generations.len() <= 100);
        }
    }
}
