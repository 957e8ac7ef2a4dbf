//! The issuer of the utility: it makes tokens for one meter under one key.

use core::convert::Infallible;

use alloc::vec::Vec;

use crate::algorithm::EncryptionAlgorithm;
use crate::amount::CreditAmount;
use crate::clear_credit::{ClearCredit, CreditRegisters};
use crate::content::TokenContent;
use crate::credit::Credit;
use crate::credit_kind::CreditKind;
use crate::currency_credit::{CurrencyAmount, CurrencyCredit};
use crate::decoder_key::DecoderKey;
use crate::instruction::{Instruction, InstructionToken};
use crate::key_parameters::KeyParameters;
use crate::meter_pan::MeterPan;
use crate::rnd::Rnd;
use crate::security_module::{IssuingKey, SecurityModule};
use crate::sts_token::StsToken;
use crate::tid::Tid;
use crate::vending_key::VendingKey;

/// Makes the tokens of one meter under one key. After a key change, use another issuer.
///
/// It has no state. The caller stores the last identifier of each meter (see [`next_tid`](crate::next_tid)) and
/// provides the random bits.
///
/// Its key lives in memory, or [in a security module](SecurityModule). The same arguments always give the same token, so a call
/// that failed because the module did not answer may be repeated.
///
/// ```
/// use chrono::NaiveDate;
/// use sts::*;
///
/// let parameters = KeyParameters {
///     supply_group: SupplyGroupCode::parse("123457")?,
///     tariff_index: TariffIndex::parse("01")?,
///     revision: KeyRevision::try_new(4)?,
///     key_type: KeyType::Unique,
///     base_date: BaseDate::Year2014,
///     expiry: KeyExpiry::NEVER,
/// };
/// let vending_key = VendingKey::from_bytes(*b"\xab\xab\xab\xab\xab\xab\xab\xab\x94\x94\x94\x94\x94\x94\x94\x94\x01\x23\x45\x67");
/// let pan = MeterPan::of(&MeterNumber::parse("07040904562")?);
/// let issuer = TokenIssuer::new(&vending_key, EncryptionAlgorithm::Ea11, parameters, pan);
///
/// let now = NaiveDate::from_ymd_opt(2026, 11, 20).unwrap().and_hms_opt(9, 30, 0).unwrap();
/// let tid = next_tid(None, now, BaseDate::Year2014)?;
/// let amount = CreditAmount::rounding_up(452)?;
/// let token = issuer.credit(CreditKind::Electricity, amount, tid, Rnd::from_byte(5))?;
/// assert_eq!(token.digits(), "08086259498974263587");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct TokenIssuer<K = DecoderKey> {
    pan: MeterPan,
    parameters: KeyParameters,
    key: K,
}

/// Why no token was made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IssueError<E = Infallible> {
    /// The key expires before the token's identifier, so the meter would refuse the token. It needs a key change first.
    #[error("the meter's key expired before minute {} of its base date", .tid.minutes())]
    KeyExpired {
        /// The identifier of the requested token.
        tid: Tid,
    },
    /// The security module that keeps the key made no token.
    #[error("the security module made no token")]
    Module(#[source] E),
}

/// Why a key change from one issuer to another is not possible.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyChangeError<E = Infallible> {
    /// The new issuer makes tokens for another meter.
    #[error("the new key belongs to meter {to}, not to {from}")]
    AnotherMeter {
        /// The meter that holds the old key.
        from: MeterPan,
        /// The meter that the new key was derived for.
        to: MeterPan,
    },
    /// The new issuer has another algorithm. The algorithm of a meter never changes.
    #[error("a key change cannot replace the cipher of a meter")]
    AnotherAlgorithm,
    /// The base date would go back, or more than one step forward.
    #[error("the base date can only stay or move on to the next one")]
    BaseDate,
    /// The security module that keeps the keys made no key change.
    #[error("the security module made no key change")]
    Module(#[source] E),
}

impl TokenIssuer {
    /// Derives the meter's key in memory and makes an issuer for it.
    pub fn new(
        vending_key: &VendingKey,
        algorithm: EncryptionAlgorithm,
        parameters: KeyParameters,
        pan: MeterPan,
    ) -> Self {
        let key = DecoderKey::derive(vending_key, algorithm, &parameters, &pan);
        Self::with_key(key, parameters, pan)
    }
}

impl<K: IssuingKey> TokenIssuer<K> {
    /// An issuer for the meter's key that this module derives.
    ///
    /// # Errors
    /// That of the module.
    pub fn in_module<M: SecurityModule<DecoderKey = K>>(
        module: &M,
        algorithm: EncryptionAlgorithm,
        parameters: KeyParameters,
        pan: MeterPan,
    ) -> Result<Self, M::Error> {
        let key = module.decoder_key(algorithm, &parameters, &pan)?;
        Ok(Self::with_key(key, parameters, pan))
    }

    /// An issuer for this key, which was derived before, for example [by DKGA02](DecoderKey::derive_by_dkga02).
    pub fn with_key(key: K, parameters: KeyParameters, pan: MeterPan) -> Self {
        Self { pan, parameters, key }
    }

    /// The key that the meter must have to accept the tokens of this issuer.
    pub fn decoder_key(&self) -> &K {
        &self.key
    }

    /// The parameters of the key.
    pub fn parameters(&self) -> &KeyParameters {
        &self.parameters
    }

    /// The meter's account number.
    pub fn pan(&self) -> &MeterPan {
        &self.pan
    }

    /// A token that adds credit.
    pub fn credit(
        &self,
        kind: CreditKind,
        amount: CreditAmount,
        tid: Tid,
        rnd: Rnd,
    ) -> Result<StsToken, IssueError<K::Error>> {
        self.issue(&TokenContent::Credit(Credit { kind, amount, tid, rnd }), tid)
    }

    /// A token that adds credit in currency.
    pub fn currency_credit(
        &self,
        kind: CreditKind,
        amount: CurrencyAmount,
        tid: Tid,
    ) -> Result<StsToken, IssueError<K::Error>> {
        self.issue(&TokenContent::CurrencyCredit(CurrencyCredit { kind, amount, tid }), tid)
    }

    /// A token that changes a setting of the meter.
    pub fn instruction(
        &self,
        instruction: Instruction,
        tid: Tid,
        rnd: Rnd,
    ) -> Result<StsToken, IssueError<K::Error>> {
        self.issue(&TokenContent::Instruction(InstructionToken { instruction, tid, rnd }), tid)
    }

    /// A token that removes the remaining credit.
    ///
    /// # Errors
    /// [`IssueError::KeyExpired`] if the key expires before this identifier.
    pub fn clear_credit(
        &self,
        registers: CreditRegisters,
        tid: Tid,
        rnd: Rnd,
    ) -> Result<StsToken, IssueError<K::Error>> {
        self.issue(&TokenContent::ClearCredit(ClearCredit { registers, tid, rnd }), tid)
    }

    /// The tokens that change the meter's key from this issuer's to that of the `new` issuer, in the order of entry:
    /// two for EA09, four for EA11. If the base date changes, they also roll the meter over.
    ///
    /// They have no identifier and no random bits, so the same change gives the same tokens.
    ///
    /// Both keys live in the same module. A vending key that moves to another module is imported there first.
    pub fn key_change_to(&self, new: &Self) -> Result<Vec<StsToken>, KeyChangeError<K::Error>> {
        if self.pan != new.pan {
            return Err(KeyChangeError::AnotherMeter { from: self.pan.clone(), to: new.pan.clone() });
        }
        if self.key.algorithm() != new.key.algorithm() {
            return Err(KeyChangeError::AnotherAlgorithm);
        }
        let (from, to) = (self.parameters.base_date, new.parameters.base_date);
        let roll_over = from != to;
        if roll_over && from.next() != Some(to) {
            return Err(KeyChangeError::BaseDate);
        }
        self.key.key_change(&new.key, &new.parameters, roll_over).map_err(KeyChangeError::Module)
    }

    /// The module is not asked for a token that the meter would refuse.
    fn issue(&self, content: &TokenContent, tid: Tid) -> Result<StsToken, IssueError<K::Error>> {
        if !self.parameters.expiry.admits(tid) {
            return Err(IssueError::KeyExpired { tid });
        }
        content.encode_with(&self.key).map_err(IssueError::Module)
    }
}
