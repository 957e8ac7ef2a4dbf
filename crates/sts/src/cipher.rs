//! What encrypts the tokens of one meter: a key in memory, or a security module that keeps its keys.

use core::convert::Infallible;

use crate::content::DecodeError;
use crate::decoder_key::DecoderKey;

/// The block cipher of one meter, under its decoder key.
///
/// [`DecoderKey`] is the implementation in software. In production the vending key stays in a security module: implement this
/// trait by a request to the module that names the vending key, the key parameters and the account number of the meter. The
/// module derives the decoder key and encrypts the block. Neither key reaches this crate. This is enough to make and read single
/// tokens; [`SecurityModule`](crate::SecurityModule) is for a [`TokenIssuer`](crate::TokenIssuer).
///
/// ```
/// use sts::*;
///
/// /// Stands for the connection to a security module and the names of one meter's key in it.
/// struct Module(DecoderKey);
///
/// impl Cipher for Module {
///     type Error = std::io::Error;
///
///     fn encrypt(&self, block: [u8; 8]) -> Result<[u8; 8], Self::Error> {
///         Cipher::encrypt(&self.0, block).map_err(|never| match never {})
///     }
///
///     fn decrypt(&self, block: [u8; 8]) -> Result<[u8; 8], Self::Error> {
///         Cipher::decrypt(&self.0, block).map_err(|never| match never {})
///     }
/// }
///
/// let key = DecoderKey::from_ea11_bytes(0xf94b6ed353c3bfdb113e2d3a7ea3c41d_u128.to_be_bytes());
/// let credit = TokenContent::Credit(Credit {
///     kind: CreditKind::Electricity,
///     amount: CreditAmount::rounding_up(1)?,
///     tid: Tid::try_new(5_871_660)?,
///     rnd: Rnd::from_byte(5),
/// });
/// let token = credit.encode_with(&Module(key.clone()))?;
/// assert_eq!(token.digits(), "59386323472137426967");
/// assert_eq!(TokenContent::decode_with(&token, &Module(key))?, credit);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Cipher {
    /// Why a block could not be encrypted or decrypted, for example because the module did not answer.
    type Error;

    /// Encrypts one block.
    fn encrypt(&self, block: [u8; 8]) -> Result<[u8; 8], Self::Error>;

    /// Decrypts one block.
    fn decrypt(&self, block: [u8; 8]) -> Result<[u8; 8], Self::Error>;
}

impl Cipher for DecoderKey {
    type Error = Infallible;

    fn encrypt(&self, block: [u8; 8]) -> Result<[u8; 8], Infallible> {
        Ok(self.encrypt_block(block))
    }

    fn decrypt(&self, block: [u8; 8]) -> Result<[u8; 8], Infallible> {
        Ok(self.decrypt_block(block))
    }
}

/// Why a token could not be read with a [`Cipher`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError<E> {
    /// The token cannot be decoded.
    #[error(transparent)]
    Token(#[from] DecodeError),
    /// The cipher failed. This says nothing about the token.
    #[error("the cipher failed")]
    Cipher(#[source] E),
}
