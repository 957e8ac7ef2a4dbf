//! For whom an organisation may buy.

use std::collections::HashSet;

use vend::SubscriberIdentifier;

/// In staging an organisation is locked to a fixed list of test meters, and the lock is lifted in production
/// (specification, section 8).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AllowList {
    /// For everybody: production.
    Everybody,
    /// For these and nobody else: staging. An empty list allows nobody.
    Only(HashSet<SubscriberIdentifier>),
}

impl AllowList {
    /// Most subscribers that a list names.
    pub const LENGTH_MAX: usize = 1_000;

    /// Whether the organisation may buy for this subscriber.
    pub fn admits(&self, subscriber: &SubscriberIdentifier) -> bool {
        match self {
            Self::Everybody => true,
            Self::Only(allowed) => allowed.contains(subscriber),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_admits_what_it_names_and_nothing_else() {
        let test_meter = SubscriberIdentifier::parse("04257670465").unwrap();
        let other = SubscriberIdentifier::parse("04257670466").unwrap();
        let locked = AllowList::Only(HashSet::from([test_meter.clone()]));
        assert!(locked.admits(&test_meter) && !locked.admits(&other));
        assert!(!AllowList::Only(HashSet::new()).admits(&test_meter));
        assert!(AllowList::Everybody.admits(&other));
    }
}
