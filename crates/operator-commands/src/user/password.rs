//! Reads a password from standard input, or generates one. It is never an argument: all users of the machine could read
//! it.

use std::io::{self, Read};

use clap::Args;
use secrecy::SecretString;

use crate::{error::VendctlError, session::Session};

/// In bytes. It is longer than any valid password.
const READ_MAX: u64 = 1_024;

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct PasswordFrom {
    /// Read the password from the first line of standard input: 12 to 256 bytes
    #[arg(long)]
    password_stdin: bool,
    /// Generate a password, and show it once
    #[arg(long)]
    generate_password: bool,
}

/// A password, and whether it was generated here.
pub(super) struct Chosen {
    pub(super) secret: SecretString,
    is_generated: bool,
}

impl PasswordFrom {
    pub(super) fn choose(&self, session: &Session) -> Result<Chosen, VendctlError> {
        if self.password_stdin {
            return Ok(Chosen { secret: read()?, is_generated: false });
        }
        Ok(Chosen { secret: session.onboarding.generate_password()?, is_generated: true })
    }
}

impl Chosen {
    /// The password, if it was generated and must be shown.
    pub(super) fn shown(&self) -> Option<&SecretString> {
        self.is_generated.then_some(&self.secret)
    }
}

fn read() -> Result<SecretString, VendctlError> {
    let mut text = String::new();
    io::stdin().lock().take(READ_MAX).read_to_string(&mut text).map_err(VendctlError::NoPassword)?;
    let first = text.lines().next().unwrap_or_default();
    Ok(first.into())
}
