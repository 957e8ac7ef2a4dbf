//! IEC 62055-41 prepayment tokens: encode, decode, key change, a virtual meter.
//!
#![doc = include_str!("../README.md")]
#![cfg_attr(not(any(test, feature = "std")), no_std)]
#![warn(missing_docs)]

extern crate alloc;

mod algorithm;
mod amount;
mod base_date;
mod block;
mod cipher;
mod clear_credit;
mod content;
mod crc;
mod credit;
mod credit_kind;
mod currency_credit;
mod decoder_key;
mod instruction;
mod issuer;
mod key_change;
mod key_parameters;
mod luhn;
mod meter_number;
mod meter_pan;
mod meter_test;
mod misty1;
mod rnd;
mod security_module;
mod sts_token;
mod tid;
mod vending_key;
mod virtual_meter;
mod wire;

pub use algorithm::EncryptionAlgorithm;
pub use amount::{AmountError, CreditAmount};
pub use base_date::BaseDate;
pub use block::TokenClass;
pub use cipher::{Cipher, ReadError};
pub use clear_credit::{ClearCredit, CreditRegisters};
pub use content::{DecodeError, TokenContent};
pub use credit::Credit;
pub use credit_kind::CreditKind;
pub use currency_credit::{CurrencyAmount, CurrencyCredit};
pub use decoder_key::{DecoderKey, DerivationError};
pub use instruction::{Instruction, InstructionToken, PowerLimit};
pub use issuer::{IssueError, KeyChangeError, TokenIssuer};
pub use key_change::{KeySection, SectionNumber};
pub use key_parameters::{
    KeyExpiry, KeyParameterError, KeyParameters, KeyRevision, KeyType, SupplyGroupCode, TariffIndex,
};
pub use luhn::luhn_check_digit;
pub use meter_number::{MeterNumber, MeterNumberError};
pub use meter_pan::{MeterPan, MeterPanError};
pub use meter_test::MeterTest;
pub use misty1::Misty1;
pub use rnd::Rnd;
pub use security_module::{IssuingKey, SecurityModule};
pub use sts_token::{MalformedToken, StsToken};
pub use tid::{Tid, TidError, next_tid};
pub use vending_key::{DesVendingKey, VendingKey};
pub use virtual_meter::{Acceptance, Entry, EntryRefusal, MeterSettings, VirtualMeter};
