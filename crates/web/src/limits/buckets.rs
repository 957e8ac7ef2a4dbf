//! Token buckets, one for each key: a client or an address.

use std::{
    hash::Hash,
    sync::{Mutex, PoisonError},
};

use clock::Monotonic;

use super::{
    generations::Generations,
    rate::{Admission, Rate},
};

/// The buckets that are not full.
#[derive(Debug)]
pub(super) struct Buckets<K> {
    rate: Rate,
    /// When each bucket will be full.
    full_at: Mutex<Generations<K, Option<Monotonic>>>,
}

impl<K: Eq + Hash> Buckets<K> {
    pub(super) fn new(rate: Rate, max: usize) -> Self {
        Self { rate, full_at: Mutex::new(Generations::new(rate.full_after(), max)) }
    }

    /// Admits or refuses a request that comes now.
    pub(super) fn admit(&self, key: K, now: Monotonic) -> Admission {
        let mut buckets = self.full_at.lock().unwrap_or_else(PoisonError::into_inner);
        let bucket = buckets.use_or(key, now, || None);
        let admission = self.rate.admit(*bucket, now);
        if let Admission::Admitted { full_at, .. } = admission {
            *bucket = Some(full_at);
        }
        admission
    }

    /// Takes back one counted request.
    pub(super) fn give_back(&self, key: K, now: Monotonic) {
        let mut buckets = self.full_at.lock().unwrap_or_else(PoisonError::into_inner);
        let bucket = buckets.use_or(key, now, || None);
        *bucket = bucket.map(|full_at| self.rate.give_back(full_at));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn each_has_a_bucket_of_its_own() {
        let buckets = Buckets::new(Rate::new(1, 2).unwrap(), 100);
        let admitted = |key, second| {
            let now = Monotonic::from_origin(Duration::from_secs(second));
            matches!(buckets.admit(key, now), Admission::Admitted { .. })
        };
        assert_eq!([admitted("a", 9), admitted("a", 9), admitted("a", 9)], [true, true, false]);
        assert_eq!([admitted("b", 9), admitted("b", 9), admitted("b", 9)], [true, true, false]);
        assert_eq!([admitted("a", 10), admitted("a", 10)], [true, false]);
    }

    #[test]
    fn a_count_that_is_taken_back_admits_one_more_request() {
        let buckets = Buckets::new(Rate::new(1, 2).unwrap(), 100);
        let now = Monotonic::from_origin(Duration::from_secs(9));
        let admitted = || matches!(buckets.admit("a", now), Admission::Admitted { .. });
        assert!(admitted() && admitted() && !admitted());
        buckets.give_back("a", now);
        assert!(admitted() && !admitted());
        buckets.give_back("b", now);
        assert!(matches!(buckets.admit("b", now), Admission::Admitted { .. }));
    }
}
