//! What an organisation can buy, and the format of a subscriber identifier.

use vend::{Product, SubscriberIdentifier};

use crate::{Pattern, PatternError, Terms};

/// One product of one provider as an organisation can buy it.
#[derive(Clone, Debug)]
pub struct Offer {
    /// The product.
    pub product: Product,
    /// The code by which callers name the provider.
    pub provider_code: String,
    /// The provider's name for display.
    pub provider_name: String,
    /// The price terms and the limits.
    pub terms: Terms,
}

/// The texts of a product in one language, where they differ from the usual ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProductText {
    /// The primary subtag of the language, such as `en`.
    pub language: String,
    /// The product's name. The usual name applies if this is `None`.
    pub display_name: Option<String>,
    /// The label of its subscriber identifier. The usual label applies if this is `None`.
    pub subscriber_id_label: Option<String>,
}

/// Why an identifier does not fit its product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// The identifier has fewer characters than the product's minimum.
    #[error("the subscriber identifier is shorter than {0} characters")]
    TooShort(u16),
    /// The identifier has more characters than the product's maximum.
    #[error("the subscriber identifier is longer than {0} characters")]
    TooLong(u16),
    /// The identifier does not match the product's pattern.
    #[error("the subscriber identifier does not have the form that the product asks for")]
    OtherForm,
}

/// Length and pattern of a product's subscriber identifiers, applied together. A part that is absent is skipped.
#[derive(Clone, Debug)]
pub struct SubscriberFormat {
    length_min: Option<u16>,
    length_max: Option<u16>,
    pattern: Option<Pattern>,
}

impl SubscriberFormat {
    /// Compiles the pattern once.
    ///
    /// # Errors
    /// When JavaScript and this library would read the pattern differently: see [`Pattern`].
    pub fn new(
        length_min: Option<u16>,
        length_max: Option<u16>,
        pattern: Option<&str>,
    ) -> Result<Self, PatternError> {
        Ok(Self { length_min, length_max, pattern: pattern.map(Pattern::parse).transpose()? })
    }

    /// The minimum number of characters.
    pub const fn length_min(&self) -> Option<u16> {
        self.length_min
    }

    /// The maximum number of characters.
    pub const fn length_max(&self) -> Option<u16> {
        self.length_max
    }

    /// The pattern's text.
    pub fn pattern(&self) -> Option<&str> {
        self.pattern.as_ref().map(Pattern::as_str)
    }

    /// Whether the identifier fits.
    pub fn check(&self, subscriber: &SubscriberIdentifier) -> Result<(), FormatError> {
        let length = subscriber.as_str().chars().count();
        if let Some(least) = self.length_min.filter(|least| length < usize::from(*least)) {
            return Err(FormatError::TooShort(least));
        }
        if let Some(most) = self.length_max.filter(|most| length > usize::from(*most)) {
            return Err(FormatError::TooLong(most));
        }
        match &self.pattern {
            Some(pattern) if !pattern.is_found_in(subscriber) => Err(FormatError::OtherForm),
            Some(_) | None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(format: &SubscriberFormat, text: &str) -> Result<(), FormatError> {
        format.check(&SubscriberIdentifier::parse(text).unwrap())
    }

    #[test]
    fn length_and_pattern_apply_together() {
        let meters = SubscriberFormat::new(Some(11), Some(13), Some("^[0-9]+$")).unwrap();
        assert_eq!(check(&meters, "04257670465"), Ok(()));
        assert_eq!(check(&meters, "0425767046"), Err(FormatError::TooShort(11)));
        assert_eq!(check(&meters, "04257670465123"), Err(FormatError::TooLong(13)));
        assert_eq!(check(&meters, "0425767046A"), Err(FormatError::OtherForm));
    }

    #[test]
    fn what_is_not_set_is_skipped() {
        let anything = SubscriberFormat::new(None, None, None).unwrap();
        assert_eq!(check(&anything, "x"), Ok(()));
    }

    #[test]
    fn a_pattern_that_javascript_would_read_otherwise_is_refused() {
        assert!(SubscriberFormat::new(None, None, Some("(?<=a)b")).is_err());
        assert!(SubscriberFormat::new(None, None, Some("[")).is_err());
    }
}
