//! Who is told what when a purchase ends. Pure, so that a message is written in the transaction that
//! settles, or not at all: an issue and a refund both hang on the one end that a purchase has.

use chrono::{DateTime, Utc};

use crate::timing::after;
use crate::{Handling, Life, NotificationFlags, State, StateName, Timing};

/// What a message says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NoticeKind {
    /// It was vended: here is the token, or the receipt.
    Issued,
    /// It was not vended after all, and the money is back.
    Refunded,
}

/// Whom a message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Recipient {
    /// The consumer, at the phone number of the request.
    Beneficiary,
    /// The user in whose name it was bought, where that user has a number or an address.
    Requester,
}

/// Which way a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Channel {
    /// A text message.
    Sms,
    /// An e-mail.
    Email,
}

/// One message to one recipient. Of one purchase there is at most one for each recipient and channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Notice {
    /// What it says.
    pub kind: NoticeKind,
    /// Whom it is for.
    pub recipient: Recipient,
    /// Which way it goes.
    pub channel: Channel,
}

macro_rules! names {
    ($type:ident { $($variant:ident = $name:literal),+ }) => {
        impl $type {
            /// Every one.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// The name in the database.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// The one of this name.
            pub fn parse(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|one| one.as_str() == name)
            }
        }
    };
}

names!(NoticeKind { Issued = "ISSUED", Refunded = "REFUNDED" });
names!(Recipient { Beneficiary = "BENEFICIARY", Requester = "REQUESTER" });
names!(Channel { Sms = "SMS", Email = "EMAIL" });

/// The messages that the move from `before` to `after` causes, made at this moment of the database's clock.
///
/// Every token that is issued is told of. A refund is told of for a managed account only, and not where the
/// confirm's own answer surely tells it: who asked for the purchase and is told "failed" has never been told
/// "pending" or "unknown". In doubt about that it is told twice, which harms nobody.
pub fn notices(
    before: &Life,
    after: &Life,
    at: DateTime<Utc>,
    timing: &Timing,
    flags: &NotificationFlags,
) -> Vec<Notice> {
    let Some(kind) = told_of(before, after, at, timing) else { return Vec::new() };
    let may_be_told = [
        (Recipient::Beneficiary, Channel::Sms, flags.beneficiary_sms),
        (Recipient::Requester, Channel::Sms, flags.requester_sms),
        // A refund is a short thing; the receipt is what people file.
        (Recipient::Requester, Channel::Email, flags.requester_email && kind == NoticeKind::Issued),
    ];
    may_be_told
        .into_iter()
        .filter(|(_, _, is_wanted)| *is_wanted)
        .map(|(recipient, channel, _)| Notice { kind, recipient, channel })
        .collect()
}

fn told_of(before: &Life, after: &Life, at: DateTime<Utc>, timing: &Timing) -> Option<NoticeKind> {
    if !before.state.name().is_open() {
        return None;
    }
    match after.state.name() {
        StateName::Successful => Some(NoticeKind::Issued),
        StateName::Failed if is_told_later(before, at, timing) => Some(NoticeKind::Refunded),
        StateName::Failed
        | StateName::InFlight
        | StateName::InDoubt
        | StateName::RetryDue
        | StateName::Review => None,
    }
}

fn is_told_later(before: &Life, at: DateTime<Utc>, timing: &Timing) -> bool {
    match before.handling {
        Handling::SelfManaged => false,
        Handling::Managed => !confirm_tells_it(before, at, timing),
    }
}

/// A caller waits for one vend at least, from its arrival, which lies no more than the intake before the send. So the
/// confirm that reserved the purchase is surely still listened to for what remains of a vend without the intake.
fn confirm_tells_it(before: &Life, at: DateTime<Utc>, timing: &Timing) -> bool {
    let listened_to = timing.provider_timeout.saturating_sub(timing.intake);
    match &before.state {
        State::InFlight(first) => before.is_unclaimed() && at < after(first.last_sent_at, listened_to),
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

    fn life(handling: Handling, name: StateName, fence: i64) -> Life {
        let reserved = Life::reserved(handling, reserved_at(), &Timing::default());
        Life { state: state(name), fence: Fence(fence), ..reserved }
    }

    fn flags(silenced: usize) -> NotificationFlags {
        NotificationFlags {
            requester_sms: silenced & 1 == 0,
            beneficiary_sms: silenced & 2 == 0,
            requester_email: silenced & 4 == 0,
            beneficiary_email: silenced & 8 == 0,
        }
    }

    fn caused(before: &Life, after: &Life, at: DateTime<Utc>, flags: NotificationFlags) -> Vec<Notice> {
        notices(before, after, at, &Timing::default(), &flags)
    }

    /// From the send: the confirm is listened to for 100 seconds, and its caller waits for 150 from its arrival.
    const MOMENTS: [u64; 6] = [1, 99, 100, 155, 184, 3_600];

    /// Every (handling, state before, fence before, moment, state after), and what it must cause.
    fn rows() -> impl Iterator<Item = (Life, Life, DateTime<Utc>, Option<NoticeKind>)> {
        let lives = Handling::ALL.into_iter().flat_map(|handling| {
            StateName::ALL.into_iter().flat_map(move |before| {
                [1, 2, 7].into_iter().flat_map(move |fence| {
                    MOMENTS.into_iter().flat_map(move |later| {
                        StateName::ALL.into_iter().map(move |then| (handling, before, fence, later, then))
                    })
                })
            })
        });
        lives.map(|(handling, before, fence, later, then)| {
            // The confirm answers for what it ends itself, while it is surely waited for.
            let answered = (before, fence) == (StateName::InFlight, 1) && later < 100;
            let expected = match (before.is_open(), then) {
                (true, StateName::Successful) => Some(NoticeKind::Issued),
                (true, StateName::Failed) if handling == Handling::Managed && !answered => {
                    Some(NoticeKind::Refunded)
                }
                _ => None,
            };
            let at = after(reserved_at(), Duration::from_secs(later));
            (life(handling, before, fence), life(handling, then, fence), at, expected)
        })
    }

    #[test]
    fn every_move_tells_whom_it_must_and_nobody_else() {
        let mut told = 0;
        for (before, after, at, expected) in rows() {
            let caused = caused(&before, &after, at, NotificationFlags::default());
            let whom = match expected {
                None => &[][..],
                Some(NoticeKind::Issued) => ISSUED,
                Some(NoticeKind::Refunded) => REFUNDED,
            };
            let expected: Vec<Notice> = whom
                .iter()
                .map(|(recipient, channel)| Notice {
                    kind: expected.unwrap(),
                    recipient: *recipient,
                    channel: *channel,
                })
                .collect();
            assert_eq!(caused, expected, "{before:?} becomes {:?} at {at}", after.state.name());
            told += caused.len();
        }
        // 4 open states x 3 fences x 6 moments: issued 72 x 2 ways of handling x 3; refunded (72 - 2) x 2.
        assert_eq!(told, 72 * 2 * 3 + 70 * 2);
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
    fn nobody_is_told_twice_the_same_way() {
        for (before, after, at, _) in rows() {
            let mut ways: Vec<_> = caused(&before, &after, at, NotificationFlags::default())
                .into_iter()
                .map(|notice| (notice.recipient, notice.channel))
                .collect();
            let all = ways.len();
            ways.dedup();
            assert_eq!(ways.len(), all);
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
