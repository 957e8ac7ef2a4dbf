//! The texts in every language.

mod complete;
mod phrases;
