//! The invariants, one file per subject.

pub(super) mod answers;
pub(super) mod envelope;
pub(super) mod feed;
pub(super) mod messages;
pub(super) mod money;
pub(super) mod moves;
pub(super) mod orders;
pub(super) mod real_time;
pub(super) mod rest;
pub(super) mod secrecy;
pub(super) mod vends;
