//! Where an event is in the feed.

use std::fmt;

/// What an event's id begins with.
const PREFIX: &str = "evt_";

/// The position of an event. Events are read in the order of their positions, and a position is never used again. The
/// default lies before all events.
///
/// A test that the owner of a webhook endpoint asks for is no event of the feed. It has the transaction number 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The number of the transaction that wrote the event.
    pub transaction: i64,
    /// The event's own number.
    pub number: i64,
}

impl Position {
    /// Whether this is a test of a webhook endpoint, and no event of the feed.
    pub const fn is_test(self) -> bool {
        self.transaction == 0
    }

    /// The position of the event with this id. `None` if no event can have such an id.
    pub fn of_id(id: &str) -> Option<Self> {
        let (transaction, number) = id.strip_prefix(PREFIX)?.split_once('_')?;
        let position = Self { transaction: transaction.parse().ok()?, number: number.parse().ok()? };
        (position.transaction > 0 && position.number > 0 && position.to_string() == id).then_some(position)
    }
}

/// The id of the event or the test at this position.
impl fmt::Display for Position {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_test() {
            return write!(out, "{PREFIX}test_{}", self.number);
        }
        write!(out, "{PREFIX}{}_{}", self.transaction, self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_an_event_leads_to_its_position_and_nothing_else_does() {
        let position = Position { transaction: 1_795_564_568_432_326, number: 42 };
        assert_eq!(position.to_string(), "evt_1795564568432326_42");
        assert_eq!(Position::of_id("evt_1795564568432326_42"), Some(position));
        assert_eq!(Position { transaction: 0, number: 42 }.to_string(), "evt_test_42");
        for other in [
            "",
            "evt_1_",
            "evt__1",
            "evt_0_1",
            "evt_1_0",
            "evt_01_1",
            "evt_+1_1",
            "evt_1_-1",
            "1_1",
            "evt_1_1 ",
            "evt_test_1",
        ] {
            assert_eq!(Position::of_id(other), None, "{other}");
        }
    }
}
