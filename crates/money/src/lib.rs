//! Exact money in the minor units of its currency.
//!
#![doc = include_str!("../README.md")]
#![cfg_attr(not(any(test, feature = "std")), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![warn(missing_docs)]

extern crate alloc;

mod amount;
mod currency;
mod error;
mod form;
mod iso4217;
mod money;
mod rate;
mod rounding;
#[cfg(feature = "serde")]
mod serde;
mod split;
#[cfg(feature = "proptest")]
pub mod strategies;

pub use amount::{AmountError, parse_amount, parse_json_amount};
pub use currency::Currency;
pub use error::MoneyError;
pub use form::Form;
pub use money::Money;
pub use rate::Rate;
pub use rounding::Rounding;
pub use rust_decimal::Decimal;
pub use split::SplitError;
