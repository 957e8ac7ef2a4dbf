//! Where the next claim of a provider's due purchases begins.

use chrono::{DateTime, Utc};

/// Claims after which one looks at everything that is due. A purchase may have become due before the oldest that was seen: its transaction
/// had not ended yet, or another worker held it. It waits for as long as these claims take.
const CLAIMS: u8 = 16;

/// The oldest due time that is left, as far as the latest claims saw it. So a claim amid a backlog does not pass again over the index
/// entries of those that have ended meanwhile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DueSince {
    oldest: Option<DateTime<Utc>>,
    claims: u8,
}

impl DueSince {
    /// After a claim that saw `oldest`. `may_have_left` says that it took all that it could, so more may be due.
    pub(crate) fn after_a_claim(self, oldest: Option<DateTime<Utc>>, may_have_left: bool) -> Self {
        let claims = self.claims.saturating_add(1);
        if may_have_left && claims < CLAIMS {
            Self { oldest: oldest.or(self.oldest), claims }
        } else {
            Self::default()
        }
    }

    /// The time before which the next claim need not look. `None`: it looks at everything that is due.
    pub(crate) const fn time(self) -> Option<DateTime<Utc>> {
        self.oldest
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::seconds(seconds)
    }

    #[test]
    fn a_claim_amid_a_backlog_begins_at_the_oldest_that_the_last_one_saw() {
        let first = DueSince::default().after_a_claim(Some(at(5)), true);
        assert_eq!(first.time(), Some(at(5)));
        assert_eq!(
            first.after_a_claim(None, true).time(),
            Some(at(5)),
            "not all organisations were looked at"
        );
        assert_eq!(first.after_a_claim(Some(at(7)), true).time(), Some(at(7)));
    }

    #[test]
    fn a_claim_looks_at_everything_when_the_last_one_left_nothing_and_after_some_claims() {
        assert_eq!(
            DueSince::default().after_a_claim(Some(at(5)), true).after_a_claim(Some(at(6)), false),
            DueSince::default()
        );
        let mut since = DueSince::default();
        let looks: Vec<bool> = (0..64)
            .map(|_| {
                since = since.after_a_claim(Some(at(5)), true);
                since.time().is_none()
            })
            .collect();
        assert_eq!(looks.iter().filter(|whole| **whole).count(), 64 / usize::from(CLAIMS));
    }
}
