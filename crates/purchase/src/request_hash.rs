//! A hash that tells two purchase requests apart without storing either.

use std::fmt;

use sha2::{Digest, Sha256};

use crate::{NotificationFlags, PurchaseRequest};

/// The name of the form below. A change to the form must change this name.
const FORM: &[u8] = b"vendgate purchase request 1";

/// SHA-256 over a canonical form of every field of a request, as parsed. Different ways to write the same amount,
/// phone number or default give the same hash.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct RequestHash([u8; 32]);

impl RequestHash {
    /// The hash of this request.
    pub fn of(request: &PurchaseRequest) -> Self {
        // Destructured, so that a new field cannot be forgotten here.
        let PurchaseRequest {
            source_channel,
            // A request that carries a key has no tag. To hash that there is no tag would change the hash of every
            // request whose key is in use.
            source_tag: _,
            language,
            product,
            provider_code,
            debited_account,
            beneficiary_phone_number,
            subscriber,
            amount,
            charges_on_top,
            comment,
            external_reference,
            notifications,
        } = request;
        let NotificationFlags { requester_sms, beneficiary_sms, requester_email, beneficiary_email } =
            *notifications;
        let mut form = CanonicalForm::default();
        form.text(source_channel.as_str());
        form.text(language);
        form.text(product.as_str());
        form.text(provider_code);
        form.number(debited_account.0);
        form.text(beneficiary_phone_number);
        form.text(subscriber.as_str());
        form.text(amount.currency().as_str());
        form.number(amount.minor());
        form.flag(*charges_on_top);
        form.optional_text(comment.as_deref());
        form.optional_text(external_reference.as_deref());
        for flag in [requester_sms, beneficiary_sms, requester_email, beneficiary_email] {
            form.flag(flag);
        }
        Self(form.hash.finalize().into())
    }

    /// A hash as stored.
    pub fn from_record(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// The 32 bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for RequestHash {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second, ..] = self.0;
        write!(out, "RequestHash({first:02x}{second:02x}..)")
    }
}

/// Each value has a fixed length or is preceded by its length, so no two sequences of values have the same form.
struct CanonicalForm {
    hash: Sha256,
}

impl Default for CanonicalForm {
    fn default() -> Self {
        Self { hash: Sha256::new_with_prefix(FORM) }
    }
}

impl CanonicalForm {
    fn text(&mut self, text: &str) {
        let length = u64::try_from(text.len()).expect("the length of a text in memory fits into a u64");
        self.hash.update(length.to_be_bytes());
        self.hash.update(text);
    }

    fn optional_text(&mut self, text: Option<&str>) {
        self.flag(text.is_some());
        self.text(text.unwrap_or_default());
    }

    fn number(&mut self, number: i64) {
        self.hash.update(number.to_be_bytes());
    }

    fn flag(&mut self, flag: bool) {
        self.hash.update([u8::from(flag)]);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use ledger::AccountId;
    use money::{Currency, Money};
    use vend::{Product, SubscriberIdentifier};

    use super::*;
    use crate::SourceChannel;

    fn money(minor: i64, currency: &str) -> Money {
        Money::from_minor(minor, Currency::parse(currency).unwrap())
    }

    fn request() -> PurchaseRequest {
        PurchaseRequest {
            source_channel: SourceChannel::Pos,
            source_tag: None,
            language: "en".into(),
            product: Product::Electricity,
            provider_code: "BPC".into(),
            debited_account: AccountId(7),
            beneficiary_phone_number: "26771234567".into(),
            subscriber: SubscriberIdentifier::parse("04257670465").unwrap(),
            amount: money(10_000, "BWP"),
            charges_on_top: true,
            comment: None,
            external_reference: Some("till-3/0001".into()),
            notifications: NotificationFlags::default(),
        }
    }

    type Change = fn(&mut PurchaseRequest);

    /// One change to each field of v1, and more changes where one field could be mistaken for another.
    const CHANGES: &[(&str, Change)] = &[
        ("source_channel", |r| r.source_channel = SourceChannel::Web),
        ("language", |r| r.language = "en-BW".into()),
        ("product", |r| r.product = Product::Water),
        ("provider_code", |r| r.provider_code = "BPD".into()),
        ("debited_account", |r| r.debited_account = AccountId(8)),
        ("beneficiary_phone_number", |r| r.beneficiary_phone_number = "26771234568".into()),
        ("subscriber", |r| r.subscriber = SubscriberIdentifier::parse("04257670466").unwrap()),
        ("amount", |r| r.amount = money(10_001, "BWP")),
        ("currency", |r| r.amount = money(10_000, "ZAR")),
        ("charges_on_top", |r| r.charges_on_top = false),
        ("comment", |r| r.comment = Some("till 3".into())),
        ("empty comment", |r| r.comment = Some(String::new())),
        ("external_reference", |r| r.external_reference = Some("till-3/0002".into())),
        ("no external_reference", |r| r.external_reference = None),
        ("reference for a comment", |r| r.comment = r.external_reference.take()),
        ("requester_sms", |r| r.notifications.requester_sms = false),
        ("beneficiary_sms", |r| r.notifications.beneficiary_sms = false),
        ("requester_email", |r| r.notifications.requester_email = false),
        ("beneficiary_email", |r| r.notifications.beneficiary_email = false),
        ("a letter moved", |r| {
            r.language = "enB".into();
            r.provider_code = "PC".into();
        }),
    ];

    #[test]
    fn every_field_of_v1_counts_and_none_is_mistaken_for_another() {
        let mut hashes = HashSet::from([RequestHash::of(&request())]);
        for (field, change) in CHANGES {
            let mut changed = request();
            change(&mut changed);
            assert!(hashes.insert(RequestHash::of(&changed)), "{field}");
        }
    }

    #[test]
    fn a_tag_changes_no_hash() {
        let tagged = PurchaseRequest { source_tag: Some("ussd-gateway-2".into()), ..request() };
        assert_eq!(RequestHash::of(&tagged), RequestHash::of(&request()));
    }

    #[test]
    fn the_same_request_has_the_hash_that_it_had_last_year() {
        let hash = RequestHash::of(&request());
        assert_eq!(
            hex::encode(hash.as_bytes()),
            "e6ee24a081adb9ddad2e4a96f6ebcd117d2ec4001b7160304569b9b368a922e3"
        );
        assert_eq!(RequestHash::from_record(hash.as_bytes()), Some(hash));
        assert_eq!(RequestHash::from_record(&hash.as_bytes()[1..]), None);
    }
}
