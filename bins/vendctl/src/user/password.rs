//! Where a password comes from: standard input, or chance. Never the command line, where everybody on the machine
//! could read it.

use std::io::{self, Read};

use clap::Args;
use secrecy::SecretString;

use crate::{desk::Desk, error::VendctlError};

/// More than any password may have.
const READ_MAX: u64 = 1_024;

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct PasswordFrom {
    /// Read the password from the first line of standard input: 12 to 256 bytes
    #[arg(long)]
    password_stdin: bool,
    /// Make a password, and show it once
    #[arg(long)]
    generate_password: bool,
}

/// A password, and whether anybody knows it yet.
pub(super) struct Chosen {
    pub(super) secret: SecretString,
    was_made_here: bool,
}

impl PasswordFrom {
    pub(super) fn choose(&self, desk: &Desk) -> Result<Chosen, VendctlError> {
        if self.password_stdin {
            return Ok(Chosen { secret: read()?, was_made_here: false });
        }
        Ok(Chosen { secret: desk.onboarding.generate_password()?, was_made_here: true })
    }
}

impl Chosen {
    /// The password, if nobody knows it unless it is shown now.
    pub(super) fn shown(&self) -> Option<&SecretString> {
        self.was_made_here.then_some(&self.secret)
    }
}

fn read() -> Result<SecretString, VendctlError> {
    let mut text = String::new();
    io::stdin().lock().take(READ_MAX).read_to_string(&mut text).map_err(VendctlError::NoPassword)?;
    let first = text.lines().next().unwrap_or_default();
    Ok(first.into())
}
