//! IEC 62055-41 prepayment tokens: encode, decode, key change, a virtual meter.
//!
//! A prepayment meter accepts tokens of 20 digits. Only the holder of the meter's key can make them. This crate has
//! both sides: [`TokenIssuer`] makes tokens for one meter, and [`VirtualMeter`] accepts or refuses them.
//! [`TokenContent`] is the content of a token. The crate does no I/O: time, random bits and earlier sales are
//! arguments.
//!
//! Two ciphers are supported: EA11 (MISTY1, RFC 2994) and EA09 (single DES). Their keys are derived by DKGA04
//! (HMAC-SHA-256). The confidential EA07 is not supported. The supported tokens are credit (electricity, water, gas,
//! time), clear credit, and key changes of two and of four tokens.
//!
//! A meter whose base date has ended is rolled over, and then accepts new credit:
//!
//! ```
//! use sts::*;
//!
//! let old_parameters = KeyParameters {
//!     supply_group: SupplyGroupCode::parse("123457")?,
//!     tariff_index: TariffIndex::parse("01")?,
//!     revision: KeyRevision::try_new(1)?,
//!     key_type: KeyType::Unique,
//!     base_date: BaseDate::Year1993,
//!     expiry: KeyExpiry::NEVER,
//! };
//! let new_parameters =
//!     KeyParameters { revision: KeyRevision::try_new(4)?, base_date: BaseDate::Year2014, ..old_parameters };
//!
//! let vending_key = VendingKey::from_bytes([7; 20]);
//! let pan = MeterPan::of(&MeterNumber::parse("07040904562")?);
//! let old = TokenIssuer::new(&vending_key, EncryptionAlgorithm::Ea09, old_parameters, pan.clone());
//! let new = TokenIssuer::new(&vending_key, EncryptionAlgorithm::Ea09, new_parameters, pan);
//! let mut meter = VirtualMeter::new(old.decoder_key().clone(), old_parameters, &[CreditKind::Electricity]);
//!
//! let amount = CreditAmount::rounding_up(100)?;
//! let credit = new.credit(CreditKind::Electricity, amount, Tid::try_new(6_777_210)?, Rnd::from_byte(1))?;
//! assert_eq!(meter.enter(credit.digits()), Entry::Refused(EntryRefusal::WrongKey));
//!
//! let [first, second] = old.key_change_to(&new)?.try_into().expect("a key change for EA09 has two tokens");
//! let taken_down = Acceptance::KeySection(SectionNumber::First);
//! assert_eq!(meter.enter(first.digits()), Entry::Accepted(taken_down));
//! let changed = Acceptance::KeyChanged { rolled_over: true };
//! assert_eq!(meter.enter(second.digits()), Entry::Accepted(changed));
//! assert!(meter.enter(credit.digits()).is_accepted());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![warn(missing_docs)]

mod algorithm;
mod amount;
mod base_date;
mod block;
mod clear_credit;
mod content;
mod crc;
mod credit;
mod credit_kind;
mod decoder_key;
mod issuer;
mod key_change;
mod key_parameters;
mod luhn;
mod meter_number;
mod meter_pan;
mod misty1;
mod rnd;
mod sts_token;
mod tid;
mod vending_key;
mod virtual_meter;

pub use algorithm::EncryptionAlgorithm;
pub use amount::{AmountError, CreditAmount};
pub use base_date::BaseDate;
pub use clear_credit::{ClearCredit, CreditRegisters};
pub use content::{DecodeError, TokenContent};
pub use credit::Credit;
pub use credit_kind::CreditKind;
pub use decoder_key::DecoderKey;
pub use issuer::{IssueError, KeyChangeError, TokenIssuer};
pub use key_change::{KeySection, SectionNumber};
pub use key_parameters::{
    KeyExpiry, KeyParameterError, KeyParameters, KeyRevision, KeyType, SupplyGroupCode, TariffIndex,
};
pub use luhn::luhn_check_digit;
pub use meter_number::{MeterNumber, MeterNumberError};
pub use meter_pan::{MeterPan, MeterPanError};
pub use misty1::Misty1;
pub use rnd::Rnd;
pub use sts_token::{MalformedToken, StsToken};
pub use tid::{Tid, TidError, next_tid};
pub use vending_key::VendingKey;
pub use virtual_meter::{Acceptance, Entry, EntryRefusal, VirtualMeter};
