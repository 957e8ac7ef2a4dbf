//! The telephones of the sandbox, each with one configured behaviour (specification, section 8).

use super::operator::Operator;
use crate::subscriber::Subscriber;

/// What happens to a purchase for a telephone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Behaviour {
    /// It is topped up.
    Active,
    /// The number belongs to no operator.
    Invalid,
    /// It is topped up a while after the answer.
    Processing,
    /// It is topped up, and the connection is cut instead of an answer.
    LostReply,
}

const fn phone(name: &'static str, identifier: &'static str) -> Subscriber {
    Subscriber { name, identifier }
}

const PHONES: [Subscriber; 4] = [
    phone("active", "26771000011"),
    phone("invalid", "26778000012"),
    phone("processing", "26772000013"),
    phone("lost_reply", "26773000014"),
];

/// All configured telephones: names and E.164 digits.
pub(crate) fn phone_scenarios() -> &'static [Subscriber] {
    &PHONES
}

/// What happens to a purchase for this number.
pub(super) fn behaviour(number: &str) -> Behaviour {
    let name = PHONES.iter().find(|phone| phone.identifier == number).map(|phone| phone.name);
    match (name, Operator::of(number)) {
        (_, None) => Behaviour::Invalid,
        (Some("processing"), Some(_)) => Behaviour::Processing,
        (Some("lost_reply"), Some(_)) => Behaviour::LostReply,
        (Some(_) | None, Some(_)) => Behaviour::Active,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_telephone_behaves_as_its_name_says_and_any_other_is_active() {
        let named = PHONES.map(|phone| behaviour(phone.identifier));
        let expected = [Behaviour::Active, Behaviour::Invalid, Behaviour::Processing, Behaviour::LostReply];
        assert_eq!(named, expected);
        assert_eq!(behaviour("26774123456"), Behaviour::Active);
        assert_eq!(behaviour("2677412345"), Behaviour::Invalid);
    }
}
