//! Reads an operator's token from standard input or a file. It is never an argument: the shell's history would keep it,
//! and all users of the machine could read it.

use std::{
    fs::File,
    io::{self, IsTerminal, Read},
    path::PathBuf,
};

use clap::Args;
use meter_token::{MeterTokenError, TokenSet};
use secrecy::{ExposeSecret, SecretString};
use vend::Product;

use crate::error::VendctlError;

/// In bytes. It is longer than all tokens of one vend.
const READ_MAX: u64 = 1_024;

/// The digits of a token for electricity (IEC 62055-41).
const STS_DIGITS: usize = 20;

#[derive(Debug, Args)]
#[group(multiple = false)]
pub struct TokenFrom {
    /// Read the token from the first line of standard input; several as `Description: Token|Description: Token`, in the
    /// order of entry
    #[arg(long)]
    token_stdin: bool,
    /// Read the token from the first line of this file
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

impl TokenFrom {
    pub const fn is_given(&self) -> bool {
        self.token_stdin || self.token_file.is_some()
    }

    /// The tokens of a vend of `product`, if any are given.
    pub fn read(&self, product: Product) -> Result<Option<TokenSet>, VendctlError> {
        let text = match (&self.token_file, self.token_stdin) {
            (Some(file), _) => first_line(File::open(file).map_err(VendctlError::NoToken)?)?,
            (None, true) => {
                prompt();
                first_line(io::stdin().lock())?
            }
            (None, false) => return Ok(None),
        };
        parse_token(&text, product).map(Some).map_err(VendctlError::Token)
    }
}

/// Why a token is not valid. It never contains the token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenFault {
    #[error(transparent)]
    Format(#[from] MeterTokenError),
    #[error("a token for electricity has {STS_DIGITS} digits")]
    Digits,
    #[error("tokens that change a key come first, and the credit token last")]
    Order,
}

/// The tokens of a vend of this product, as the provider wrote them.
pub(crate) fn parse_token(text: &SecretString, product: Product) -> Result<TokenSet, TokenFault> {
    let set = TokenSet::parse(text.expose_secret())?;
    match product {
        Product::Electricity => electricity(&set),
        Product::Water | Product::Airtime => Ok(set),
    }
}

/// Removes the blanks and hyphens between digits, and checks the order of the tokens.
fn electricity(set: &TokenSet) -> Result<TokenSet, TokenFault> {
    let wire = set.wire_form();
    let pairs: Vec<&str> = wire.split('|').collect();
    // The descriptions are the provider's. The order can be checked only where they mention keys.
    let changes_key = |pair: &&str| pair.trim_start().to_ascii_lowercase().starts_with("key");
    let is_in_order = pairs.is_sorted_by_key(|pair| !changes_key(pair));
    let ends_with_credit = pairs.len() == 1 || pairs.last().is_some_and(|last| !changes_key(last));
    if !(is_in_order && ends_with_credit) {
        return Err(TokenFault::Order);
    }
    let plain = pairs.iter().map(|pair| match pair.split_once(':') {
        Some((description, token)) => Ok(format!("{description}: {}", digits(token)?)),
        None => digits(pair),
    });
    let plain = plain.collect::<Result<Vec<_>, TokenFault>>()?;
    Ok(TokenSet::parse(&plain.join("|"))?)
}

fn digits(token: &str) -> Result<String, TokenFault> {
    let digits: String = token.chars().filter(|character| !matches!(character, ' ' | '-')).collect();
    let is_token = digits.len() == STS_DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_token { Ok(digits) } else { Err(TokenFault::Digits) }
}

fn first_line(from: impl Read) -> Result<SecretString, VendctlError> {
    let mut text = String::new();
    from.take(READ_MAX).read_to_string(&mut text).map_err(VendctlError::NoToken)?;
    Ok(text.lines().next().unwrap_or_default().into())
}

#[expect(clippy::print_stderr, reason = "an operator at a terminal is prompted for the token")]
fn prompt() {
    if io::stdin().is_terminal() {
        eprintln!("Token, then Enter and Ctrl-D:");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(product: Product, text: &str) -> Result<String, TokenFault> {
        parse_token(&text.into(), product).map(|set| set.wire_form())
    }

    #[test]
    fn a_token_for_electricity_has_twenty_digits_however_it_is_grouped() {
        let plain = Ok("08086259498974263587".to_owned());
        assert_eq!(of(Product::Electricity, "08086259498974263587"), plain);
        assert_eq!(of(Product::Electricity, "0808 6259 4989 7426 3587"), plain);
        assert_eq!(of(Product::Electricity, "0808-6259-4989-7426-3587"), plain);
        for wrong in ["0808625949897426358", "080862594989742635877", "0808625949897426358X"] {
            assert_eq!(of(Product::Electricity, wrong), Err(TokenFault::Digits));
        }
        assert_eq!(of(Product::Electricity, ""), Err(TokenFault::Format(MeterTokenError::Empty)));
    }

    #[test]
    fn tokens_that_change_a_key_come_before_the_credit() {
        let (change, credit) =
            ("KeyChange Token1: 5019 3837 1880 9804 5115", "Credit Token: 08086259498974263587");
        let in_order = of(Product::Electricity, &format!("{change}|{credit}")).unwrap();
        assert_eq!(in_order, "KeyChange Token1: 50193837188098045115|Credit Token: 08086259498974263587");
        assert_eq!(of(Product::Electricity, &format!("{credit}|{change}")), Err(TokenFault::Order));
        assert_eq!(of(Product::Electricity, &format!("{change}|{change}")), Err(TokenFault::Order));
        let own_words = "KCT 1: 50193837188098045115|KCT 2: 50193837188098045116|Sale: 08086259498974263587";
        assert_eq!(of(Product::Electricity, own_words).unwrap(), own_words);
    }

    #[test]
    fn a_token_for_water_is_what_the_provider_issues() {
        assert_eq!(of(Product::Water, "AB12-34").unwrap(), "AB12-34");
    }
}
