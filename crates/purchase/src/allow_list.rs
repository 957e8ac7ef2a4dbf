//! The subscribers for which an organisation may buy.

use std::collections::HashSet;

use vend::SubscriberIdentifier;

/// In staging an organisation may buy only for a fixed list of test meters. In production it may
/// buy for everyone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AllowList {
    /// Every subscriber is allowed: production.
    Unrestricted,
    /// Only these subscribers are allowed: staging. An empty list allows none.
    Only(HashSet<SubscriberIdentifier>),
}

impl AllowList {
    /// The maximum number of subscribers in a list.
    pub const LENGTH_MAX: usize = 1_000;

    /// Whether the organisation may buy for this subscriber.
    pub fn admits(&self, subscriber: &SubscriberIdentifier) -> bool {
        match self {
            Self::Unrestricted => true,
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
        assert!(AllowList::Unrestricted.admits(&other));
    }
}
