//! The laws that the books obey whatever happens, and what it says when one is broken.

use std::fmt;

/// A law of the books. The first two are looked at whole every time, the others in rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Law {
    /// Money is held for open purchases, and for nothing else.
    HoldsEqualOpenPurchases,
    /// Every open purchase is due at some time.
    OpenPurchasesAreDue,
    /// What is due is looked at.
    DuePurchasesAreTakenUp,
    /// A stored balance is the sum of what was posted.
    BalancesEqualPostings,
    /// Nothing is moved between currencies, and no entry is empty.
    EntriesKeepToOneCurrency,
    /// What was vended is paid.
    SuccessesArePaid,
    /// What was paid is vended.
    SettlementsHaveTheirSuccess,
    /// What came to light after an end is owed, and nothing else is.
    IncidentsAreOwed,
    /// Money comes from outside by an operator's word only.
    PaymentsAreAudited,
    /// No purchase ends without something to show for it.
    EndsHaveEvidence,
    /// Nothing was changed in the audit log, and nothing taken out of it.
    AuditLogIsWhole,
}

/// A law that is broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// Which.
    pub law: Law,
    /// By what, as `noun:number`.
    pub subject: String,
    /// How: the figures.
    pub finding: String,
}

impl Law {
    /// Every law.
    pub const ALL: [Self; 11] = [
        Self::HoldsEqualOpenPurchases,
        Self::OpenPurchasesAreDue,
        Self::DuePurchasesAreTakenUp,
        Self::BalancesEqualPostings,
        Self::EntriesKeepToOneCurrency,
        Self::SuccessesArePaid,
        Self::SettlementsHaveTheirSuccess,
        Self::IncidentsAreOwed,
        Self::PaymentsAreAudited,
        Self::EndsHaveEvidence,
        Self::AuditLogIsWhole,
    ];

    /// A stable name, for metrics and alerts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::HoldsEqualOpenPurchases => "holds_equal_open_purchases",
            Self::OpenPurchasesAreDue => "open_purchases_are_due",
            Self::DuePurchasesAreTakenUp => "due_purchases_are_taken_up",
            Self::BalancesEqualPostings => "balances_equal_postings",
            Self::EntriesKeepToOneCurrency => "entries_keep_to_one_currency",
            Self::SuccessesArePaid => "successes_are_paid",
            Self::SettlementsHaveTheirSuccess => "settlements_have_their_success",
            Self::IncidentsAreOwed => "incidents_are_owed",
            Self::PaymentsAreAudited => "payments_are_audited",
            Self::EndsHaveEvidence => "ends_have_evidence",
            Self::AuditLogIsWhole => "audit_log_is_whole",
        }
    }

    /// The law, for people.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::HoldsEqualOpenPurchases => "what is held of a wallet is the total of its open purchases",
            Self::OpenPurchasesAreDue => "every open purchase has a time at which it is looked at next",
            Self::DuePurchasesAreTakenUp => {
                "no open purchase waits a quarter of an hour beyond the time at which it is due"
            }
            Self::BalancesEqualPostings => "the balance of a wallet is the sum of its postings",
            Self::EntriesKeepToOneCurrency => {
                "a journal entry moves something, and only between accounts of its currency"
            }
            Self::SuccessesArePaid => {
                "a successful purchase is settled by one entry of the moves that follow from its amounts"
            }
            Self::SettlementsHaveTheirSuccess => "an entry settles a successful purchase and no other",
            Self::IncidentsAreOwed => {
                "a vend after the end of a purchase is owed to its provider out of suspense, once"
            }
            Self::PaymentsAreAudited => {
                "a payment or a correction has its line in the audit log, with the same figures"
            }
            Self::EndsHaveEvidence => {
                "a success has its attempt, and a token or a reply that our keys have sealed; what a person decided has its \
                 line in the audit log"
            }
            Self::AuditLogIsWhole => {
                "each line of the audit log has the hash of its content and of the line before it"
            }
        }
    }
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.subject, self.finding)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_law_has_a_name_and_a_sentence_of_its_own() {
        let names: BTreeSet<&str> = Law::ALL.into_iter().map(Law::name).collect();
        let sentences: BTreeSet<&str> = Law::ALL.into_iter().map(Law::sentence).collect();
        assert_eq!((names.len(), sentences.len()), (Law::ALL.len(), Law::ALL.len()));
    }
}
