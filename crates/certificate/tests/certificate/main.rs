//! The crate as its users see it.

mod canonical;
mod issued;
