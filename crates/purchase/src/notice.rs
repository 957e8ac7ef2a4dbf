//! Which messages are sent when a purchase ends. This is a pure function, so a message is written in the transaction
//! that settles, or not at all. A purchase has at most one end, so it causes either issue messages or refund
//! messages.

use chrono::{DateTime, Utc};

use crate::timing::after;
use crate::{Handling, Lifecycle, NotificationFlags, State, StateName, Timing};

/// What a message says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NoticeKind {
    /// The purchase was vended. The message has the token or the receipt.
    Issued,
    /// The purchase was not vended after all, and the money is released.
    Refunded,
}

/// The recipient of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Recipient {
    /// The consumer, at the phone number of the request.
    Beneficiary,
    /// The user in whose name it was bought, if that user has a phone number or an e-mail address.
    Requester,
}

/// How a message is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Channel {
    /// A text message.
    Sms,
    /// An e-mail.
    Email,
}

/// One message to one recipient. A purchase has at most one for each recipient and channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Notice {
    /// What the message says.
    pub kind: NoticeKind,
    /// The recipient.
    pub recipient: Recipient,
    /// How the message is sent.
    pub channel: Channel,
}

macro_rules! names {
    ($type:ident { $($variant:ident = $name:literal),+ }) => {
        impl $type {
            /// Every value.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// The name in the database.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// The value of this name.
            pub fn parse(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|one| one.as_str() == name)
            }
        }
    };
}

names!(NoticeKind { Issued = "ISSUED", Refunded = "REFUNDED" });
names!(Recipient { Beneficiary = "BENEFICIARY", Requester = "REQUESTER" });
names!(Channel { Sms = "SMS", Email = "EMAIL" });

/// The messages that the change from `before` to `after` causes, made at this time of the database's clock.
///
/// Every issue causes messages. A refund causes messages for a managed account only, and only if the answer to the
/// confirm may not have reported it. A caller that is answered "failed" has never been answered "pending" or
/// "unknown". If it is not certain that the caller got that answer, the messages are sent as well. A second report
/// does no harm.
pub fn notices(
    before: &Lifecycle,
    after: &Lifecycle,
    at: DateTime<Utc>,
    timing: &Timing,
    flags: &NotificationFlags,
) -> Vec<Notice> {
    let Some(kind) = kind_of(before, after, at, timing) else { return Vec::new() };
    let candidates = [
        (Recipient::Beneficiary, Channel::Sms, flags.beneficiary_sms),
        (Recipient::Requester, Channel::Sms, flags.requester_sms),
        // A refund needs no receipt, and the e-mail is the receipt.
        (Recipient::Requester, Channel::Email, flags.requester_email && kind == NoticeKind::Issued),
    ];
    candidates
        .into_iter()
        .filter(|(_, _, is_wanted)| *is_wanted)
        .map(|(recipient, channel, _)| Notice { kind, recipient, channel })
        .collect()
}

fn kind_of(before: &Lifecycle, after: &Lifecycle, at: DateTime<Utc>, timing: &Timing) -> Option<NoticeKind> {
    if !before.state.name().is_open() {
        return None;
    }
    match after.state.name() {
        StateName::Successful => Some(NoticeKind::Issued),
        StateName::Failed if needs_refund_notice(before, at, timing) => Some(NoticeKind::Refunded),
        StateName::Failed
        | StateName::InFlight
        | StateName::InDoubt
        | StateName::RetryDue
        | StateName::Review => None,
    }
}

fn needs_refund_notice(before: &Lifecycle, at: DateTime<Utc>, timing: &Timing) -> bool {
    match before.handling {
        Handling::SelfManaged => false,
        Handling::Managed => !confirm_tells_it(before, at, timing),
    }
}

/// A caller waits at least `provider_timeout` from its arrival, and its arrival is at most `intake` before the send.
/// So the caller of the confirm that reserved the purchase certainly still waits for `provider_timeout - intake`
/// after the send.
fn confirm_tells_it(before: &Lifecycle, at: DateTime<Utc>, timing: &Timing) -> bool {
    let still_waiting = timing.provider_timeout.saturating_sub(timing.intake);
    match &before.state {
        State::InFlight(first) => before.is_unclaimed() && at < after(first.last_sent_at, still_waiting),
        State::InDoubt(_) | State::RetryDue | State::Review(_) | State::Successful { .. } | State::Failed => {
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{Fence, Sending};

    const BENEFICIARY_SMS: (Recipient, Channel) = (Recipient::Beneficiary, Channel::Sms);
    const REQUESTER_SMS: (Recipient, Channel) = (Recipient::Requester, Channel::Sms);
    const REQUESTER_EMAIL: (Recipient, Channel) = (Recipient::Requester, Channel::Email);
    const ISSUED: &[(Recipient, Channel)] = &[BENEFICIARY_SMS, REQUESTER_SMS, REQUESTER_EMAIL];
    const REFUNDED: &[(Recipient, Channel)] = &[BENEFICIARY_SMS, REQUESTER_SMS];

    fn reserved_at() -> DateTime<Utc> {
        DateTime::from_timestamp(1_795_167_000, 0).unwrap()
    }

    fn state(name: StateName) -> State {
        let sending = Sending::first(reserved_at());
        match name {
            StateName::InFlight => State::InFlight(sending),
            StateName::InDoubt => State::InDoubt(sending),
            StateName::RetryDue => State::RetryDue,
            StateName::Review => State::Review(sending),
            StateName::Successful => State::Successful { provider_transaction: "V1".into() },
            StateName::Failed => State::Failed,
        }
    }

    fn lifecycle(handling: Handling, name: StateName, fence: i64) -> Lifecycle {
        let reserved = Lifecycle::reserved(handling, reserved_at(), &Timing::default());
        Lifecycle { state: state(name), fence: Fence(fence), ..reserved }
    }

    fn flags(silenced: usize) -> NotificationFlags {
        NotificationFlags {
            requester_sms: silenced & 1 == 0,
            beneficiary_sms: silenced & 2 == 0,
            requester_email: silenced & 4 == 0,
            beneficiary_email: silenced & 8 == 0,
        }
    }

    fn caused(
        before: &Lifecycle,
        after: &Lifecycle,
        at: DateTime<Utc>,
        flags: NotificationFlags,
    ) -> Vec<Notice> {
        notices(before, after, at, &Timing::default(), &flags)
    }

    /// In seconds after the send. The caller of the confirm certainly waits for 100 seconds after the send, and for 150
    /// seconds after its arrival.
    const MOMENTS: [u64; 6] = [1, 99, 100, 155, 184, 3_600];

    /// Every (handling, state before, fence before, time, state after), and what it must cause.
    fn rows() -> impl Iterator<Item = (Lifecycle, Lifecycle, DateTime<Utc>, Option<NoticeKind>)> {
        let cases = Handling::ALL.into_iter().flat_map(|handling| {
            StateName::ALL.into_iter().flat_map(move |before| {
                [1, 2, 7].into_iter().flat_map(move |fence| {
                    MOMENTS.into_iter().flat_map(move |later| {
                        StateName::ALL.into_iter().map(move |then| (handling, before, fence, later, then))
                    })
                })
            })
        });
        cases.map(|(handling, before, fence, later, then)| {
            // The confirm itself answers, as long as its caller certainly still waits.
            let answered = (before, fence) == (StateName::InFlight, 1) && later < 100;
            let expected = match (before.is_open(), then) {
                (true, StateName::Successful) => Some(NoticeKind::Issued),
                (true, StateName::Failed) if handling == Handling::Managed && !answered => {
                    Some(NoticeKind::Refunded)
                }
                _ => None,
            };
            let at = after(reserved_at(), Duration::from_secs(later));
            (lifecycle(handling, before, fence), lifecycle(handling, then, fence), at, expected)
        })
    }

    #[test]
    fn every_change_causes_exactly_the_messages_that_it_must() {
        let mut number = 0;
        for (before, after, at, expected) in rows() {
            let caused = caused(&before, &after, at, NotificationFlags::default());
            let recipients = match expected {
                None => &[][..],
                Some(NoticeKind::Issued) => ISSUED,
                Some(NoticeKind::Refunded) => REFUNDED,
            };
            let expected: Vec<Notice> = recipients
                .iter()
                .map(|(recipient, channel)| Notice {
                    kind: expected.unwrap(),
                    recipient: *recipient,
                    channel: *channel,
                })
                .collect();
            assert_eq!(caused, expected, "{before:?} becomes {:?} at {at}", after.state.name());
            number += caused.len();
        }
        // 4 open states x 3 fences x 6 times: issued 72 x 2 modes of handling x 3; refunded (72 - 2) x 2.
        assert_eq!(number, 72 * 2 * 3 + 70 * 2);
    }

    #[test]
    fn each_flag_silences_its_own_message_and_no_other() {
        for silenced in 0..16 {
            let flags = flags(silenced);
            for (before, after, at, _) in rows() {
                let all = caused(&before, &after, at, NotificationFlags::default());
                let wanted = |notice: &Notice| match (notice.recipient, notice.channel) {
                    BENEFICIARY_SMS => flags.beneficiary_sms,
                    REQUESTER_SMS => flags.requester_sms,
                    REQUESTER_EMAIL => flags.requester_email,
                    (Recipient::Beneficiary, Channel::Email) => flags.beneficiary_email,
                };
                let expected: Vec<Notice> = all.into_iter().filter(wanted).collect();
                assert_eq!(caused(&before, &after, at, flags), expected);
            }
        }
    }

    #[test]
    fn no_recipient_gets_two_messages_over_one_channel() {
        for (before, after, at, _) in rows() {
            let mut targets: Vec<_> = caused(&before, &after, at, NotificationFlags::default())
                .into_iter()
                .map(|notice| (notice.recipient, notice.channel))
                .collect();
            let all = targets.len();
            targets.dedup();
            assert_eq!(targets.len(), all);
        }
    }

    #[test]
    fn every_name_is_read_back() {
        for kind in NoticeKind::ALL {
            assert_eq!(NoticeKind::parse(kind.as_str()), Some(kind));
        }
        for recipient in Recipient::ALL {
            assert_eq!(Recipient::parse(recipient.as_str()), Some(recipient));
        }
        for channel in Channel::ALL {
            assert_eq!(Channel::parse(channel.as_str()), Some(channel));
        }
    }
}
