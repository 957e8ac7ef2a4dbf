//! What to do about errors, for the end of their line.

use back_office::{
    AccountRefusal, ApproveError, ArchiveError, EraseError, PaymentError, ReverseError, Rule,
    UnmatchedVendError,
};
use catalogue::AllowError;
use database::DatabaseError;
use identity::OnboardingError;
use purchase::StateName;
use reconciliation::DiscrepancyError;
use store::DecisionError;

use super::VendctlError;

impl VendctlError {
    /// What to do about it, for the end of its line.
    pub(super) fn advice(&self) -> Option<&'static str> {
        if let Self::Onboarding(error) = self {
            return advice_about_onboarding(error);
        }
        if matches!(self, Self::NotLetIn { .. }) {
            return Some(
                "its administrator adds the login to pg_hba.conf and pg_ident.conf; or sign in with a link",
            );
        }
        if matches!(self, Self::Unprinted(_)) {
            return Some("it was done; replace a secret that was not shown with `vendctl secret rotate`");
        }
        if let Self::Reverse(ReverseError::NoPayment(_) | ReverseError::Reversed { .. }) = self {
            return Some("nothing was posted; `vendctl wallet statement ACCOUNT` shows the entries");
        }
        if matches!(self, Self::Payment(PaymentError::Refused(_)) | Self::Reverse(ReverseError::Refused(_))) {
            return Some("nothing was posted");
        }
        if let Self::Approve(error) = self {
            return advice_about_approval(error);
        }
        if matches!(self, Self::Account(AccountRefusal::NotEmpty { .. })) {
            return Some("wait until no purchase is open, and empty it with `vendctl wallet adjust`");
        }
        if matches!(self, Self::Audit(_)) {
            return Some(
                "change nothing, copy the database, and follow VendgateInvariantBroken in the runbook",
            );
        }
        if matches!(self, Self::Allow(AllowError::Full)) {
            return Some("nothing was added; remove others with `vendctl allow-list remove`");
        }
        if let Self::Decision(error) = self {
            return advice_about_decision(error);
        }
        if let Self::UnmatchedVend(error) = self {
            return advice_about_unmatched_vend(error);
        }
        if matches!(self, Self::Discrepancy(DiscrepancyError::Absent(_) | DiscrepancyError::Decided { .. })) {
            return Some("nothing was closed; `vendctl discrepancies list --all` shows every one");
        }
        if let Self::Erase(error) = self {
            return advice_about_erasure(error);
        }
        if matches!(self, Self::Archive(ArchiveError::Differs(_))) {
            return Some("the rest was not removed; write a new archive of what is left, and remove that");
        }
        self.of_the_database().and_then(advice_about)
    }
}

/// What to do when an organisation, client or user could not be created or changed.
fn advice_about_onboarding(error: &OnboardingError) -> Option<&'static str> {
    match error {
        OnboardingError::NoOrganisation(_) => Some("`vendctl organisation list` shows all"),
        OnboardingError::NoClient(_) => Some("`vendctl client list -o CODE` shows an organisation's"),
        OnboardingError::NoUser { .. } => Some("`vendctl user list -o CODE` shows an organisation's"),
        OnboardingError::PasswordLength => {
            Some("give another one to --password-stdin, or have one made by --generate-password")
        }
        OnboardingError::Overlap => Some("give a shorter --overlap"),
        OnboardingError::Database(error) => advice_about(error),
        OnboardingError::Password(_) | OnboardingError::Unhashed(_) | OnboardingError::Entropy(_) => None,
    }
}

/// What to do about a purchase that was not decided.
fn advice_about_decision(error: &DecisionError) -> Option<&'static str> {
    match error {
        DecisionError::NotInReview { state, .. } => Some(match state {
            StateName::InFlight | StateName::InDoubt => {
                "no decision is possible while the provider may still answer; `vendctl purchases show` says when it is asked next"
            }
            StateName::RetryDue => "nothing was vended, and the service attempts again by itself",
            StateName::Successful => "it stays vended and paid for",
            StateName::Failed => "it stays failed; a vend that is found later becomes an incident",
            StateName::Review => "it was not claimed; try again",
        }),
        DecisionError::TokenOfAnother { .. } => Some(
            "nothing was decided; the provider has another token for this sale: compare the time and the amount of both in its list",
        ),
        DecisionError::VendOfAnother { .. } => Some(
            "nothing was decided; compare both with `vendctl purchases show`, and ask the provider which sale is which",
        ),
        DecisionError::Held { .. } => Some("the worker asks about it right now; try again in a few seconds"),
        DecisionError::OtherKey(_) => {
            Some("give vendctl the [sealing] section that the servers have; nothing was decided")
        }
        DecisionError::Unacknowledged(_) => Some(
            "it may or may not have been decided: check with `vendctl purchases show` before you enter it again",
        ),
        DecisionError::Refused(_) => Some("nothing was decided"),
        DecisionError::Absent(_) => Some("`vendctl purchases list` finds it"),
        DecisionError::Database(error) => advice_about(error),
    }
}

/// What to do about a request that was not approved.
fn advice_about_approval(error: &ApproveError) -> Option<&'static str> {
    match error {
        ApproveError::Absent(_) | ApproveError::Decided { .. } => {
            Some("`vendctl approvals list --all` shows every one")
        }
        ApproveError::PostedBefore(_)
        | ApproveError::Refused(_)
        | ApproveError::Reverse(_)
        | ApproveError::UnmatchedVend(_)
        | ApproveError::OtherSum => Some(
            "nothing was done; reject the request, and enter what is right with the command that made it",
        ),
        ApproveError::Database(error) => advice_about(error),
    }
}

/// What to do about unmatched vends that were not decided.
fn advice_about_unmatched_vend(error: &UnmatchedVendError) -> Option<&'static str> {
    match error {
        UnmatchedVendError::Absent(_) => {
            Some("nothing was decided; `vendctl recover list --all` shows every one")
        }
        UnmatchedVendError::Decided { .. } => {
            Some("nothing was decided; leave it out, or correct the wallet with `vendctl wallet adjust`")
        }
        UnmatchedVendError::NoSum => Some("nothing was decided; decide those of one currency at a time"),
        UnmatchedVendError::Refused(_) => Some("nothing was decided"),
        UnmatchedVendError::Database(error) => advice_about(error),
    }
}

/// What to do about a person whose data was not erased.
fn advice_about_erasure(error: &EraseError) -> Option<&'static str> {
    match error {
        EraseError::Open(_) => Some("nothing was erased; erase it when the purchase has ended a week ago"),
        EraseError::Recent { .. } => Some("nothing was erased; erase it a week after that"),
        EraseError::Incident(_) => Some("nothing was erased; close it by `vendctl incidents close` first"),
        EraseError::OpenBatch(_) => Some("nothing was erased; wait until the batch is finished or cancelled"),
        EraseError::Database(error) => advice_about(error),
    }
}

/// What to do about a failure of the store.
fn advice_about(error: &DatabaseError) -> Option<&'static str> {
    if error.may_be_committed() {
        return Some(
            "it may or may not have been done: check with `vendctl audit list`; a payment may be entered again under its --id",
        );
    }
    if error.is_forbidden() || matches!(error, DatabaseError::Setting { name: "role", .. }) {
        return Some(
            "operator.database_url must name the login of an operator, a member of vendgate_operator or of a role, that owns nothing",
        );
    }
    if matches!(error, DatabaseError::Schema { .. } | DatabaseError::ProgramTooOld { .. }) {
        return Some("use the vendctl of the servers' release");
    }
    if matches!(error, DatabaseError::Busy { .. }) {
        return Some("nothing was done; try again");
    }
    matches!(error, DatabaseError::Unavailable { .. })
        .then_some("is operator.database_url right, and does the database run?")
}

/// What to do about a rule of the database that was violated.
pub(super) const fn about(rule: Rule) -> &'static str {
    match rule {
        Rule::OneCode => "the CODE is taken; choose another one",
        Rule::OneUsername => "the organisation has a user of that name; choose another USERNAME",
        Rule::OneCommissionWallet => {
            "the organisation has a wallet for commission of that --currency; open one of another --category"
        }
        Rule::OnePaymentReference => "another payment has that --id; nothing was posted",
        Rule::OfferNeedsProvider => "there is no such PROVIDER; enter it with `vendctl provider declare`",
        Rule::OfferNeedsProduct | Rule::TextNeedsProduct => {
            "the PRODUCT is not entered yet; do so with `vendctl product set`"
        }
        Rule::PauseEndsLater => "a pause ends after it begins; give a later --until, or none",
        Rule::PauseNeedsProduct => "the --product is not entered yet; do so with `vendctl product set`",
        Rule::TrialNeedsProduct => "the --trial-product is not entered yet; do so with `vendctl product set`",
        Rule::ActNeedsApproval => {
            "this needs the approval of another person now; nothing was done, and entering it again makes a request"
        }
        Rule::ApprovalByAnother => "this was requested by you; another person with the same role approves it",
        Rule::ApprovalInTime => "the request has expired; enter the command that made it again",
        Rule::ApprovalOnce => "the request was decided before; `vendctl approvals list --all` shows how",
        Rule::ApprovalOfRequest => "there is no such request; `vendctl approvals list --all` shows every one",
        Rule::ApprovalCarriedOut => "what was approved could not be done, so nothing was approved",
        Rule::OneRequestPerPurchase => {
            "another request about this purchase waits; `vendctl approvals list` shows it; nothing was requested"
        }
        Rule::RequestInReview => {
            "the purchase has ended or is being settled; `vendctl purchases show` says how it stands"
        }
        Rule::DecisionAfterRequest => {
            "a request about this purchase waits; approve or reject it first: `vendctl approvals list` shows it; nothing was decided"
        }
        Rule::OneRequestPerSubject => {
            "another request about this payment, reversal or provider waits; `vendctl approvals list` shows it; nothing was requested"
        }
        Rule::DiscrepancyByAnother => {
            "you decided this purchase, or asked for that decision; another person closes what was found about it"
        }
        Rule::DefaultNeedsOffer => {
            "a default PROVIDER needs its offer; set the offer first, and remove it last, with `vendctl offer`"
        }
    }
}
