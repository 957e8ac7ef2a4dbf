//! The text of a message: the purchase, in the language of its request.
//!
//! The texts are short: an ordinary token fits one SMS part, a key change two. Only the beneficiary receives the token.
//! A receipt contains no token: the requester has it from the answer to the confirm, and e-mails stay in mailboxes.

use std::fmt;

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use messages::{Bought, Language, Messages, Phrase};
use purchase::{Channel, NoticeKind, Recipient, Record, Success};
use store::{ClaimedMessage, Contents, MessageId};

use crate::plain::plain;

mod tokens;

/// Longest name, unit or reference that is quoted from other parties, in characters.
const FOREIGN_MAX: usize = 60;

/// A message that can be handed over to a gateway.
#[derive(Clone, PartialEq, Eq)]
pub struct Letter {
    /// Its id, the same in every repeat.
    pub id: MessageId,
    /// E.164 digits, or an e-mail address.
    pub to: String,
    /// The subject of an e-mail. Empty in a text message.
    pub subject: String,
    /// The text, in lines.
    pub text: String,
    /// When the purchase ended.
    pub written_at: DateTime<Utc>,
}

impl fmt::Debug for Letter {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Letter({}, {} letters)", self.id, self.text.chars().count())
    }
}

/// Composes the messages.
#[derive(Debug)]
pub struct Composer {
    messages: Messages,
    zone: Tz,
}

impl Composer {
    /// A composer that writes dates in this zone.
    pub const fn new(messages: Messages, zone: Tz) -> Self {
        Self { messages, zone }
    }

    /// The text of a claimed message, or `None` if the recipient has no number or address for its channel.
    pub fn letter(&self, message: &ClaimedMessage, contents: &Contents) -> Option<Letter> {
        let notice = message.id.notice;
        let to = match (notice.recipient, notice.channel) {
            (Recipient::Beneficiary, Channel::Sms) => Some(contents.record.beneficiary_phone_number.clone()),
            (Recipient::Beneficiary, Channel::Email) => None,
            (Recipient::Requester, Channel::Sms) => contents.requester_phone_number.clone(),
            (Recipient::Requester, Channel::Email) => contents.requester_email.clone(),
        }?;
        let writing = self.writing(contents);
        let text = match (notice.kind, notice.recipient, notice.channel) {
            (NoticeKind::Issued, Recipient::Beneficiary, _) => writing.tokens(),
            (NoticeKind::Issued, Recipient::Requester, Channel::Sms) => writing.short_receipt(),
            (NoticeKind::Issued, Recipient::Requester, Channel::Email) => writing.receipt(self.zone),
            (NoticeKind::Refunded, Recipient::Beneficiary, _) => writing.not_delivered(),
            (NoticeKind::Refunded, Recipient::Requester, _) => writing.refund(),
        };
        let subject = match notice.channel {
            Channel::Sms => String::new(),
            Channel::Email => writing.say(&Phrase::Receipt(writing.bought())),
        };
        Some(Letter { id: message.id, to, subject, text, written_at: message.written_at })
    }

    fn writing<'a>(&'a self, contents: &'a Contents) -> Writing<'a> {
        let record = &contents.record;
        let language = Language::negotiate(&record.language).unwrap_or_default();
        let own_name = contents.product_names.iter().find(|(of, _)| of == language.as_str());
        let product = own_name.map(|(_, name)| name.clone());
        let product = product.or_else(|| self.messages.product_name(language, record.product.as_str()));
        Writing {
            messages: &self.messages,
            language,
            record,
            product: foreign(&product.unwrap_or_else(|| record.product.as_str().to_owned())),
            amount: record.price.net.to_string(),
            total: record.price.total.to_string(),
            subscriber: foreign(record.subscriber.as_str()),
        }
    }
}

/// One message that is being composed.
struct Writing<'a> {
    messages: &'a Messages,
    language: Language,
    record: &'a Record,
    product: String,
    amount: String,
    total: String,
    subscriber: String,
}

impl Writing<'_> {
    fn tokens(&self) -> String {
        let mut lines = vec![self.say(&Phrase::Bought(self.bought()))];
        if let Some(success) = &self.record.success {
            lines.extend(
                success
                    .tokens
                    .as_ref()
                    .map(|tokens| tokens::lines(tokens, |phrase| self.say(phrase)))
                    .unwrap_or_default(),
            );
            lines.extend(self.units(success));
        }
        lines.push(self.reference());
        lines.join("\n")
    }

    fn short_receipt(&self) -> String {
        [self.say(&Phrase::Receipt(self.bought())), self.paid(), self.reference()].join("\n")
    }

    fn receipt(&self, zone: Tz) -> String {
        let record = self.record;
        let mut lines = vec![self.say(&Phrase::Receipt(self.bought())), String::new(), self.paid()];
        if let Some(success) = &record.success {
            lines.extend(self.units(success));
            let name = success.subscriber_details.as_ref().or(record.subscriber_details.as_ref());
            lines.extend(name.map(|name| self.say(&Phrase::Customer { name: &foreign(name) })));
            let transaction = foreign(&success.provider_transaction);
            lines.push(self.say(&Phrase::ProviderTransaction { transaction: &transaction }));
        }
        let at = record.created_at.with_timezone(&zone).format("%Y-%m-%d %H:%M %Z").to_string();
        lines.push(self.say(&Phrase::BoughtAt { at: &at }));
        lines.push(self.reference());
        lines.extend(
            record
                .external_reference
                .as_ref()
                .map(|reference| self.say(&Phrase::ExternalReference { reference: &foreign(reference) })),
        );
        lines.extend([String::new(), self.say(&Phrase::Automatic), String::new()]);
        lines.join("\n")
    }

    fn not_delivered(&self) -> String {
        [self.say(&Phrase::NotDelivered(self.bought())), self.reference()].join("\n")
    }

    fn refund(&self) -> String {
        let phrase = Phrase::Refunded { bought: self.bought(), total: &self.total };
        [self.say(&phrase), self.reference()].join("\n")
    }

    fn paid(&self) -> String {
        let charge = self.record.price.charge;
        if charge.is_zero() {
            self.say(&Phrase::Paid { total: &self.total })
        } else {
            self.say(&Phrase::PaidWithCharges { total: &self.total, charge: &charge.to_string() })
        }
    }

    fn units(&self, success: &Success) -> Option<String> {
        let units = success.units.as_ref()?;
        Some(self.say(&Phrase::Units { units: &foreign(&units.to_string()) }))
    }

    fn reference(&self) -> String {
        self.say(&Phrase::Reference { reference: self.record.reference.as_str() })
    }

    fn bought(&self) -> Bought<'_> {
        Bought { product: &self.product, amount: &self.amount, subscriber: &self.subscriber }
    }

    fn say(&self, phrase: &Phrase<'_>) -> String {
        self.messages.phrase(self.language, phrase)
    }
}

fn foreign(text: &str) -> String {
    plain(text, FOREIGN_MAX)
}
