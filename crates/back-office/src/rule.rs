//! The rules of the schema that an operator's input can violate, and their constraint names in the database.

use database::DatabaseError;

/// A rule of the schema that an operator's input can violate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Each organisation has its own code.
    OneCode,
    /// Each user of an organisation has its own username.
    OneUsername,
    /// An organisation has at most one commission wallet per currency.
    OneCommissionWallet,
    /// Each payment has its own reference.
    OnePaymentReference,
    /// A product must exist before it is offered.
    OfferNeedsProduct,
    /// A provider must exist before it offers a product.
    OfferNeedsProvider,
    /// A product must exist before it gets a text.
    TextNeedsProduct,
    /// A default provider must offer its product for as long as it is the default.
    DefaultNeedsOffer,
    /// A pause of a provider's sales ends after it begins.
    PauseEndsLater,
    /// A product must exist before its sales are paused.
    PauseNeedsProduct,
    /// A product must exist before a breaker tries a provider with it.
    TrialNeedsProduct,
    /// Above a threshold, an act needs the approval of another person.
    ActNeedsApproval,
    /// A request is approved by another person.
    ApprovalByAnother,
    /// A request can be approved until it expires.
    ApprovalInTime,
    /// A request is decided once.
    ApprovalOnce,
    /// Only a request can be decided.
    ApprovalOfRequest,
    /// What is approved is done in the same transaction.
    ApprovalCarriedOut,
    /// One request at a time waits about a purchase.
    OneRequestPerPurchase,
    /// A request to end a purchase is about one in review.
    RequestInReview,
    /// A person decides about a purchase when no request about it waits.
    DecisionAfterRequest,
    /// One request at a time waits about a payment, a reversal or a provider.
    OneRequestPerSubject,
    /// Who decided that a purchase was vended does not close the discrepancy about it.
    DiscrepancyByAnother,
}

impl Rule {
    /// Every rule.
    pub const ALL: [Self; 22] = [
        Self::OneCode,
        Self::OneUsername,
        Self::OneCommissionWallet,
        Self::OnePaymentReference,
        Self::OfferNeedsProduct,
        Self::OfferNeedsProvider,
        Self::TextNeedsProduct,
        Self::DefaultNeedsOffer,
        Self::PauseEndsLater,
        Self::PauseNeedsProduct,
        Self::TrialNeedsProduct,
        Self::ActNeedsApproval,
        Self::ApprovalByAnother,
        Self::ApprovalInTime,
        Self::ApprovalOnce,
        Self::ApprovalOfRequest,
        Self::ApprovalCarriedOut,
        Self::OneRequestPerPurchase,
        Self::RequestInReview,
        Self::DecisionAfterRequest,
        Self::OneRequestPerSubject,
        Self::DiscrepancyByAnother,
    ];

    /// The rule that was violated, if it is one of these.
    pub fn broken_by(error: &DatabaseError) -> Option<Self> {
        let (DatabaseError::Duplicate { constraint } | DatabaseError::Rejected { constraint, .. }) = error
        else {
            return None;
        };
        Self::ALL.into_iter().find(|rule| rule.constraint() == constraint)
    }

    const fn constraint(self) -> &'static str {
        match self {
            Self::OneCode => "organisations_code_key",
            Self::OneUsername => "users_organisation_id_username_key",
            Self::OneCommissionWallet => "accounts_one_for_commission",
            Self::OnePaymentReference => "journal_entries_one_per_reference",
            Self::OfferNeedsProduct => "offers_product_fkey",
            Self::OfferNeedsProvider => "offers_provider_code_fkey",
            Self::TextNeedsProduct => "product_texts_product_fkey",
            Self::DefaultNeedsOffer => "default_provider_needs_its_offer",
            Self::PauseEndsLater => "provider_pauses_end_later",
            Self::PauseNeedsProduct => "provider_pauses_product_fkey",
            Self::TrialNeedsProduct => "provider_breakers_trial_product_fkey",
            Self::ActNeedsApproval => "acts_above_the_threshold_are_approved",
            Self::ApprovalByAnother => "approvals_are_of_another_person",
            Self::ApprovalInTime => "approvals_are_in_time",
            Self::ApprovalOnce => "approval_decisions_pkey",
            Self::ApprovalOfRequest => "approvals_are_of_requests",
            Self::ApprovalCarriedOut => "approvals_are_carried_out",
            Self::OneRequestPerPurchase => "approval_requests_one_open_per_purchase",
            Self::RequestInReview => "requests_are_about_purchases_in_review",
            Self::DecisionAfterRequest => "decisions_wait_for_open_requests",
            Self::OneRequestPerSubject => "approval_requests_one_open_per_subject",
            Self::DiscrepancyByAnother => "discrepancies_are_closed_by_another",
        }
    }
}

#[cfg(test)]
mod tests {
    use test_kit::database::migrated;

    use super::Rule;

    #[test]
    fn every_rule_has_the_name_that_the_schema_gives_it() {
        let database = migrated();
        for rule in Rule::ALL {
            let known = format!(
                "SELECT count(*) FROM (SELECT conname AS name FROM pg_constraint \
                 UNION SELECT relname FROM pg_class WHERE relkind = 'i' \
                 UNION SELECT substring(prosrc from rule) FROM pg_proc, unnest(ARRAY ['{0}']) AS rule) AS rules WHERE name = '{0}'",
                rule.constraint()
            );
            assert_eq!(database.run_sql(&known).unwrap(), "1", "{rule:?}");
        }
    }
}
