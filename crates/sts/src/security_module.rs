//! Where keys live: in memory, or in a security module.

use core::convert::Infallible;

use alloc::vec::Vec;

use crate::algorithm::EncryptionAlgorithm;
use crate::cipher::Cipher;
use crate::content::TokenContent;
use crate::decoder_key::DecoderKey;
use crate::key_change::KeySection;
use crate::key_parameters::KeyParameters;
use crate::meter_pan::MeterPan;
use crate::sts_token::StsToken;
use crate::vending_key::VendingKey;

/// Where a vending key lives. It derives the decoder keys of meters from it.
///
/// [`VendingKey`] is the implementation in memory, for test keys. In production a security module keeps the vending key:
/// implement this trait for the connection to it, and [`IssuingKey`] for what names one decoder key in it. Then
/// [`TokenIssuer::in_module`](crate::TokenIssuer::in_module) makes tokens, and neither key reaches this crate.
///
/// A general module that only computes HMAC-SHA-256 keeps the vending key, and lets the decoder keys out: then
/// [`DecoderKey::derive_with`] makes them, and `DecoderKey` is the key in memory. `examples/pkcs11.rs` is such an implementation, and
/// says what it protects.
///
/// The calls wait for the module. An asynchronous program makes them where it may wait.
///
/// ```
/// use sts::*;
///
/// /// Stands for a connection to a security module. A real one holds no key.
/// struct Module(VendingKey);
///
/// /// Names one decoder key in the module. A real one holds the connection and the parameters of the key.
/// struct Named(DecoderKey);
///
/// impl SecurityModule for Module {
///     type DecoderKey = Named;
///     type Error = std::io::Error;
///
///     fn decoder_key(
///         &self,
///         algorithm: EncryptionAlgorithm,
///         parameters: &KeyParameters,
///         pan: &MeterPan,
///     ) -> Result<Named, Self::Error> {
///         Ok(Named(DecoderKey::derive(&self.0, algorithm, parameters, pan)))
///     }
/// }
///
/// impl Cipher for Named {
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
/// impl IssuingKey for Named {
///     fn algorithm(&self) -> EncryptionAlgorithm {
///         self.0.algorithm()
///     }
///
///     fn key_change(
///         &self,
///         new: &Self,
///         parameters: &KeyParameters,
///         roll_over: bool,
///     ) -> Result<Vec<StsToken>, Self::Error> {
///         self.0.key_change(&new.0, parameters, roll_over).map_err(|never| match never {})
///     }
/// }
///
/// # let parameters = KeyParameters {
/// #     supply_group: SupplyGroupCode::parse("123457")?,
/// #     tariff_index: TariffIndex::parse("01")?,
/// #     revision: KeyRevision::try_new(4)?,
/// #     key_type: KeyType::Unique,
/// #     base_date: BaseDate::Year2014,
/// #     expiry: KeyExpiry::NEVER,
/// # };
/// # let pan = MeterPan::of(&MeterNumber::parse("07040904562")?);
/// let module = Module(VendingKey::from_bytes([7; 20]));
/// let issuer = TokenIssuer::in_module(&module, EncryptionAlgorithm::Ea11, parameters, pan.clone())?;
/// let amount = CreditAmount::rounding_up(452)?;
/// let token = issuer.credit(CreditKind::Electricity, amount, Tid::try_new(6_777_210)?, Rnd::from_byte(9))?;
/// # let memory = TokenIssuer::new(&module.0, EncryptionAlgorithm::Ea11, parameters, pan);
/// # assert_eq!(token, memory.credit(CreditKind::Electricity, amount, Tid::try_new(6_777_210)?, Rnd::from_byte(9))?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait SecurityModule {
    /// What names a decoder key in the module.
    type DecoderKey: IssuingKey;

    /// Why the module has no decoder key.
    type Error;

    /// The decoder key of one meter, derived from the vending key of this supply group and revision.
    ///
    /// # Errors
    /// That of the module, for example that it has no such vending key.
    fn decoder_key(
        &self,
        algorithm: EncryptionAlgorithm,
        parameters: &KeyParameters,
        pan: &MeterPan,
    ) -> Result<Self::DecoderKey, Self::Error>;
}

/// A decoder key that makes tokens, wherever it lives.
///
/// [`DecoderKey`] is the implementation in memory.
pub trait IssuingKey: Cipher {
    /// The cipher that this key is for.
    fn algorithm(&self) -> EncryptionAlgorithm;

    /// The tokens that replace this key by the `new` one, which has these parameters: as many as
    /// [`EncryptionAlgorithm::key_change_tokens`], in the order of entry.
    ///
    /// [`TokenIssuer::key_change_to`](crate::TokenIssuer::key_change_to) calls it, after it has checked that such a change is
    /// possible.
    ///
    /// A key-change token contains a part of the new key, with a checksum over it, encrypted under the old key. So a module from
    /// which neither key ever leaves makes the whole token itself: it needs a command for that, which modules made for STS have.
    /// Read its answer with [`StsToken::parse`] or [`StsToken::from_block`]. A general module has only the block cipher. With
    /// such a one the new key leaves the module for this call: make its [`KeySection`]s, and encrypt each with
    /// [`TokenContent::encode_with`].
    ///
    /// # Errors
    /// That of the module. It also refuses here if it does not make key changes.
    fn key_change(
        &self,
        new: &Self,
        parameters: &KeyParameters,
        roll_over: bool,
    ) -> Result<Vec<StsToken>, Self::Error>;
}

impl SecurityModule for VendingKey {
    type DecoderKey = DecoderKey;
    type Error = Infallible;

    fn decoder_key(
        &self,
        algorithm: EncryptionAlgorithm,
        parameters: &KeyParameters,
        pan: &MeterPan,
    ) -> Result<DecoderKey, Infallible> {
        Ok(DecoderKey::derive(self, algorithm, parameters, pan))
    }
}

impl IssuingKey for DecoderKey {
    fn algorithm(&self) -> EncryptionAlgorithm {
        DecoderKey::algorithm(self)
    }

    fn key_change(
        &self,
        new: &Self,
        parameters: &KeyParameters,
        roll_over: bool,
    ) -> Result<Vec<StsToken>, Infallible> {
        let sections = KeySection::of(new, parameters, roll_over);
        Ok(sections.into_iter().map(|section| TokenContent::KeySection(section).encode(self)).collect())
    }
}
