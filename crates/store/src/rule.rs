//! The rules of the schema that an operator can run into, and what the database calls them.

use crate::StoreError;

/// A rule that somebody at the operator's desk can break by what they enter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Two organisations have two codes.
    OneCode,
    /// Two users of an organisation have two names.
    OneUsername,
    /// An organisation has one commission wallet of a currency.
    OneCommissionWallet,
    /// A payment's reference is its own.
    OnePaymentReference,
    /// A product is entered before it is offered.
    OfferNeedsProduct,
    /// A provider is entered before it offers anything.
    OfferNeedsProvider,
    /// A product is entered before it is called otherwise.
    TextNeedsProduct,
    /// A default provider of a product offers it, and goes on offering it while it is the default.
    DefaultNeedsOffer,
}

impl Rule {
    /// Every rule.
    pub const ALL: [Self; 8] = [
        Self::OneCode,
        Self::OneUsername,
        Self::OneCommissionWallet,
        Self::OnePaymentReference,
        Self::OfferNeedsProduct,
        Self::OfferNeedsProvider,
        Self::TextNeedsProduct,
        Self::DefaultNeedsOffer,
    ];

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
        }
    }
}

impl StoreError {
    /// Which rule was broken, where it is one of those.
    pub fn broken_rule(&self) -> Option<Rule> {
        let (Self::Duplicate { constraint } | Self::Rejected { constraint, .. }) = self else {
            return None;
        };
        Rule::ALL.into_iter().find(|rule| rule.constraint() == constraint)
    }
}

#[cfg(test)]
mod tests {
    use super::Rule;
    use crate::test_database::migrated;

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
