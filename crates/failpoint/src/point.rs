//! Every step of the money path, in the order in which a purchase passes them.

/// A point between two steps. The list is complete, so a test can go through all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Point {
    /// All checks that can refuse before money is held are done. Nothing is held.
    ConfirmBeforeReserve,
    /// In a lane: the writes of a group that contains a reserve are sent, and its commit is not.
    ReserveBeforeCommit,
    /// In a lane: the commit of such a group is acknowledged, and no caller is answered.
    ReserveAfterCommit,
    /// The reserve is acknowledged. The gate is not checked yet.
    ConfirmAfterReserve,
    /// The gate was open. Nothing is sent.
    ConfirmBeforeSend,
    /// The connection to the provider is open, and the gate was checked for the last time. The first byte of
    /// the request is about to be sent.
    OrderLeaves,
    /// The provider's answer was read and parsed. The outcome is not recorded.
    ConfirmAnswered,
    /// In a lane: the writes of a group that contains a record are sent, and its commit is not.
    RecordBeforeCommit,
    /// In a lane: the commit of such a group is acknowledged, and no caller is answered.
    RecordAfterCommit,
    /// The outcome is recorded. The caller has no answer.
    ConfirmAfterRecord,

    /// The worker has selected the due purchases and written its claims. They are not committed.
    DueBeforeCommit,
    /// The worker holds the due purchases.
    DueAfterCommit,
    /// One purchase is claimed by the process that resolves it. The provider was not asked.
    ResolveClaimed,
    /// The provider was asked. It has answered or not.
    ResolveEnquired,
    /// One more send is recorded, of the same request or of the next attempt's. It is not sent.
    ResolveSendRecorded,
    /// The gate was checked for the last time. The first byte of that request is about to be sent.
    RepeatLeaves,
    /// The answer to it was read and parsed. The outcome is not recorded.
    ResolveAnswered,
    /// Evidence is about to be recorded.
    ResolveBeforeRecord,
    /// The evidence is recorded. The caller has no answer.
    ResolveAfterRecord,

    /// The worker holds lines of a batch. Nothing of them is bought.
    BatchLineTaken,
    /// A line was bought or refused. This is not recorded in the batch.
    BatchLineBought,

    /// A message is claimed by the process that sends it. It is not sent.
    MessageBeforeSend,
    /// The message was accepted. This is not recorded.
    MessageAfterSend,
    /// The message is recorded as sent.
    MessageAfterMark,

    /// A webhook endpoint has answered, or has not. This is not recorded.
    WebhookAnswered,
}

impl Point {
    /// All points, in the order in which they are passed.
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
        Self::BatchLineTaken,
        Self::BatchLineBought,
        Self::MessageBeforeSend,
        Self::MessageAfterSend,
        Self::MessageAfterMark,
        Self::WebhookAnswered,
    ];

    /// The name of the point in a trigger.
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
            Self::BatchLineTaken => "batch.line_taken",
            Self::BatchLineBought => "batch.line_bought",
            Self::MessageBeforeSend => "message.before_send",
            Self::MessageAfterSend => "message.after_send",
            Self::MessageAfterMark => "message.after_mark",
            Self::WebhookAnswered => "webhook.answered",
        }
    }

    /// The point with this name.
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
