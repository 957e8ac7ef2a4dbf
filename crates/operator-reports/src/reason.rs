//! The arguments that many commands share: the reason of a change, and the organisation it is about.

use clap::Args;

use crate::parse;

/// The reason of a change. Every command that changes something requires it.
#[derive(Debug, Args)]
pub struct Why {
    /// The reason, in a sentence: it is stored in the audit log
    #[arg(long, value_name = "TEXT", value_parser = parse::reason)]
    pub reason: String,
}

/// The organisation that a command is about.
#[derive(Debug, Args)]
pub struct Whose {
    /// The organisation's code
    #[arg(short, long, value_name = "CODE", value_parser = parse::organisation_code)]
    pub organisation: String,
}
