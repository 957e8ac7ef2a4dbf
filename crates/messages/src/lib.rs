//! All texts for people, localised with Fluent: error messages, product names, receipts, and the messages that are sent when a
//! purchase ends.
//!
//! The texts are in `texts/`, one folder per language, and are compiled in. [`Messages`] parses them once. A program with texts of
//! its own, in the same languages, keeps them as [`Texts`].
//!
//! ```
//! use error_codes::ErrorCode;
//! use messages::{Locale, Messages};
//!
//! let messages = Messages::new();
//! let locale = Locale::parse("fr-CM")?;
//! let said = messages.error(locale.language(), ErrorCode::InsufficientBalance.into(), &[("gap", "XAF 5.00")]);
//! assert_eq!(said, "Il manque XAF 5.00 au solde. Approvisionnez le compte ou achetez pour moins.");
//! # Ok::<(), messages::MalformedTag>(())
//! ```
#![warn(missing_docs)]

mod detail;
mod locale;
mod messages;
mod phrase;
mod receipt_text;
mod sentence;
mod texts;

pub use detail::Detail;
pub use locale::{Language, Locale, MalformedTag};
pub use messages::Messages;
pub use phrase::{Bought, Numbered, Phrase};
pub use receipt_text::ReceiptText;
pub use sentence::Sentence;
pub use texts::Texts;
