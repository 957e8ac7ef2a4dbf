//! The invariants of the books, and the violations of them.

use std::fmt;

/// An invariant of the books. The first three are checked completely at every look, the others in rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Invariant {
    /// Money is held for open purchases and for nothing else.
    HoldsEqualOpenPurchases,
    /// Every open purchase has a due time.
    OpenPurchasesAreDue,
    /// A due purchase is taken up.
    DuePurchasesAreTakenUp,
    /// A stored balance is the sum of its postings.
    BalancesEqualPostings,
    /// A statement opens where the one before it has closed, and the last one leads to the balance.
    StatementsCarryOn,
    /// The balances of all accounts at a moment follow from those before it, and add up to zero.
    TrialBalancesCarryOn,
    /// No entry moves money between currencies, and no entry is empty.
    EntriesKeepToOneCurrency,
    /// What was vended is paid.
    SuccessesArePaid,
    /// What was paid is vended.
    SettlementsHaveTheirSuccess,
    /// A vend that became known after an end is owed to its provider, and nothing else is.
    IncidentsAreOwed,
    /// A vend that is missing after a restore is owed to its provider.
    UnmatchedVendsAreOwed,
    /// Money enters only by an operator's action.
    PaymentsAreAudited,
    /// Money leaves only by an operator's action.
    PayoutsAreAudited,
    /// No purchase ends without evidence.
    EndsHaveEvidence,
    /// The feed tells of each end once.
    EndsAreTold,
    /// No line of the audit log was changed or removed.
    AuditLogIsWhole,
}

/// A violated invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The invariant.
    pub invariant: Invariant,
    /// The row that violates it, as `noun:number`.
    pub subject: String,
    /// How it is violated: the figures.
    pub finding: String,
}

impl Invariant {
    /// Every invariant.
    pub const ALL: [Self; 16] = [
        Self::HoldsEqualOpenPurchases,
        Self::OpenPurchasesAreDue,
        Self::DuePurchasesAreTakenUp,
        Self::BalancesEqualPostings,
        Self::StatementsCarryOn,
        Self::TrialBalancesCarryOn,
        Self::EntriesKeepToOneCurrency,
        Self::SuccessesArePaid,
        Self::SettlementsHaveTheirSuccess,
        Self::IncidentsAreOwed,
        Self::UnmatchedVendsAreOwed,
        Self::PaymentsAreAudited,
        Self::PayoutsAreAudited,
        Self::EndsHaveEvidence,
        Self::EndsAreTold,
        Self::AuditLogIsWhole,
    ];

    /// A stable name, for metrics and alerts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::HoldsEqualOpenPurchases => "holds_equal_open_purchases",
            Self::OpenPurchasesAreDue => "open_purchases_are_due",
            Self::DuePurchasesAreTakenUp => "due_purchases_are_taken_up",
            Self::BalancesEqualPostings => "balances_equal_postings",
            Self::StatementsCarryOn => "statements_carry_on",
            Self::TrialBalancesCarryOn => "trial_balances_carry_on",
            Self::EntriesKeepToOneCurrency => "entries_keep_to_one_currency",
            Self::SuccessesArePaid => "successes_are_paid",
            Self::SettlementsHaveTheirSuccess => "settlements_have_their_success",
            Self::IncidentsAreOwed => "incidents_are_owed",
            Self::UnmatchedVendsAreOwed => "unmatched_vends_are_owed",
            Self::PaymentsAreAudited => "payments_are_audited",
            Self::PayoutsAreAudited => "payouts_are_audited",
            Self::EndsHaveEvidence => "ends_have_evidence",
            Self::EndsAreTold => "ends_are_told",
            Self::AuditLogIsWhole => "audit_log_is_whole",
        }
    }

    /// The invariant as a sentence for people.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::HoldsEqualOpenPurchases => "what is held of a wallet is the total of its open purchases",
            Self::OpenPurchasesAreDue => "every open purchase has a time at which it is looked at next",
            Self::DuePurchasesAreTakenUp => {
                "no open purchase waits a quarter of an hour beyond the time at which it is due"
            }
            Self::BalancesEqualPostings => "the balance of a wallet is the sum of its postings",
            Self::StatementsCarryOn => {
                "the balance at a cut-off is that of the cut-off before it and the postings between, and so is the balance of \
                 the wallet"
            }
            Self::TrialBalancesCarryOn => {
                "the balance of each account at a trial balance is that of the one before it and the postings between, and all \
                 balances add up to zero"
            }
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
            Self::UnmatchedVendsAreOwed => {
                "a vend that only a provider's statement has is owed to the provider out of suspense, once"
            }
            Self::PaymentsAreAudited => {
                "a payment or a correction has its line in the audit log, with the same figures"
            }
            Self::PayoutsAreAudited => {
                "what was paid out has its line in the audit log, with the same figures"
            }
            Self::EndsHaveEvidence => {
                "a success has its attempt, and a token or a reply that our keys have sealed; what a person decided has its \
                 line in the audit log"
            }
            Self::EndsAreTold => {
                "a purchase that has ended has one event of the feed that says so, as it ended"
            }
            Self::AuditLogIsWhole => {
                "each line of the audit log has the hash of its content and of the line before it"
            }
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.subject, self.finding)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_invariant_has_its_own_name_and_its_own_sentence() {
        let names: BTreeSet<&str> = Invariant::ALL.into_iter().map(Invariant::name).collect();
        let sentences: BTreeSet<&str> = Invariant::ALL.into_iter().map(Invariant::sentence).collect();
        assert_eq!((names.len(), sentences.len()), (Invariant::ALL.len(), Invariant::ALL.len()));
    }
}
