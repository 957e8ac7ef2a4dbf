//! Every step of the money path, in the order in which a purchase passes them.

/// A place between two steps. The list is closed, so that a sweep can visit all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Point {
    /// Everything that can be refused without money was asked; nothing is held.
    ConfirmBeforeReserve,
    /// In a lane: a group with a reserve in it is written and not committed.
    ReserveBeforeCommit,
    /// In a lane: the commit of such a group is acknowledged, and nobody was told.
    ReserveAfterCommit,
    /// The reserve is acknowledged, the gate not yet looked at.
    ConfirmAfterReserve,
    /// The gate was open; nothing has left.
    ConfirmBeforeSend,
    /// The connection to the provider stands, the gate was looked at for the last time, and the first byte of the
    /// order is about to leave.
    OrderLeaves,
    /// The provider's answer was read and understood; what it means is not on record.
    ConfirmAnswered,
    /// In a lane: a group with a record in it is written and not committed.
    RecordBeforeCommit,
    /// In a lane: the commit of such a group is acknowledged, and nobody was told.
    RecordAfterCommit,
    /// The outcome is on record; the caller has no answer.
    ConfirmAfterRecord,

    /// The worker has chosen what is due and written that it holds it; not committed.
    DueBeforeCommit,
    /// The worker holds what is due.
    DueAfterCommit,
    /// One purchase is held by whoever resolves it; nothing was asked.
    ResolveClaimed,
    /// The provider was asked, and has answered or not.
    ResolveEnquired,
    /// One more send is on record, of the same order or of the next attempt's; it has not left.
    ResolveSendRecorded,
    /// The gate was looked at for the last time, and the first byte of that order is about to leave.
    RepeatLeaves,
    /// The answer to it was read and understood; what it means is not on record.
    ResolveAnswered,
    /// Evidence is about to be put on record.
    ResolveBeforeRecord,
    /// It is on record; the caller has no answer.
    ResolveAfterRecord,

    /// A message is held by whoever sends it; it has not left.
    MessageBeforeSend,
    /// It was accepted; that it was is not on record.
    MessageAfterSend,
    /// It is on record as sent.
    MessageAfterMark,
}

impl Point {
    /// All of them, in the order in which they are passed.
    pub const ALL: &[Self] = &[
        Self::ConfirmBeforeReserve,
        Self::ReserveBeforeCommit,
        Self::ReserveAfterCommit,
        Self::ConfirmAfterReserve,
        Self::ConfirmBeforeSend,
        Self::OrderLeaves,
        Self::ConfirmAnswered,
        Self::RecordBeforeCommit,
        Self::RecordAfterCommit,
        Self::ConfirmAfterRecord,
        Self::DueBeforeCommit,
        Self::DueAfterCommit,
        Self::ResolveClaimed,
        Self::ResolveEnquired,
        Self::ResolveSendRecorded,
        Self::RepeatLeaves,
        Self::ResolveAnswered,
        Self::ResolveBeforeRecord,
        Self::ResolveAfterRecord,
        Self::MessageBeforeSend,
        Self::MessageAfterSend,
        Self::MessageAfterMark,
    ];

    /// Its name in an order.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ConfirmBeforeReserve => "confirm.before_reserve",
            Self::ReserveBeforeCommit => "lane.reserve_before_commit",
            Self::ReserveAfterCommit => "lane.reserve_after_commit",
            Self::ConfirmAfterReserve => "confirm.after_reserve",
            Self::ConfirmBeforeSend => "confirm.before_send",
            Self::OrderLeaves => "order.leaves",
            Self::ConfirmAnswered => "confirm.answered",
            Self::RecordBeforeCommit => "lane.record_before_commit",
            Self::RecordAfterCommit => "lane.record_after_commit",
            Self::ConfirmAfterRecord => "confirm.after_record",
            Self::DueBeforeCommit => "due.before_commit",
            Self::DueAfterCommit => "due.after_commit",
            Self::ResolveClaimed => "resolve.claimed",
            Self::ResolveEnquired => "resolve.enquired",
            Self::ResolveSendRecorded => "resolve.send_recorded",
            Self::RepeatLeaves => "repeat.leaves",
            Self::ResolveAnswered => "resolve.answered",
            Self::ResolveBeforeRecord => "resolve.before_record",
            Self::ResolveAfterRecord => "resolve.after_record",
            Self::MessageBeforeSend => "message.before_send",
            Self::MessageAfterSend => "message.after_send",
            Self::MessageAfterMark => "message.after_mark",
        }
    }

    /// The point of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|point| point.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_point_is_found_by_its_name_and_stands_in_the_list_once() {
        for point in Point::ALL {
            assert_eq!(Point::parse(point.name()), Some(*point));
        }
        let distinct: BTreeSet<_> = Point::ALL.iter().collect();
        assert_eq!(distinct.len(), Point::ALL.len());
    }
}
