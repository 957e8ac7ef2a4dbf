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
}

impl Rule {
    /// Every rule.
    pub const ALL: [Self; 10] = [
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
                 UNION SELECT relname FROM pg_class WHERE relkind = 'i') AS rules WHERE name = '{}'",
                rule.constraint()
            );
            assert_eq!(database.run_sql(&known).unwrap(), "1", "{rule:?}");
        }
    }
}
