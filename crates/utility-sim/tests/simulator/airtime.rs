//! Airtime over the top-up interface.

mod access;
mod kiosk;
mod misbehaviour;
mod questions;
mod references;
mod topups;
