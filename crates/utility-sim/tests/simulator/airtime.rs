//! Airtime over the top-up interface.

mod access;
pub mod kiosk;
mod misbehaviour;
mod questions;
mod references;
mod topups;
