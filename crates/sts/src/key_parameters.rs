//! The parameters of a decoder key, except the meter itself.

mod key_expiry;
mod key_revision;
mod key_type;
mod supply_group;
mod tariff_index;

pub use key_expiry::KeyExpiry;
pub use key_revision::KeyRevision;
pub use key_type::KeyType;
pub use supply_group::SupplyGroupCode;
pub use tariff_index::TariffIndex;

use crate::base_date::BaseDate;

/// The utility's parameters of a meter's key. Any change needs a key change at the meter.
///
/// ```
/// use sts::{BaseDate, KeyExpiry, KeyParameters, KeyRevision, KeyType, SupplyGroupCode, TariffIndex};
///
/// let parameters = KeyParameters {
///     supply_group: SupplyGroupCode::parse("123457")?,
///     tariff_index: TariffIndex::parse("01")?,
///     revision: KeyRevision::try_new(4)?,
///     key_type: KeyType::Unique,
///     base_date: BaseDate::Year2014,
///     expiry: KeyExpiry::NEVER,
/// };
/// assert_eq!(parameters.tariff_index.to_string(), "01");
/// # Ok::<(), sts::KeyParameterError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KeyParameters {
    /// The group of meters that share a vending key.
    pub supply_group: SupplyGroupCode,
    /// The tariff that the meter belongs to.
    pub tariff_index: TariffIndex,
    /// The generation of the vending key.
    pub revision: KeyRevision,
    /// What the key may be used for.
    pub key_type: KeyType,
    /// The day from which token identifiers count.
    pub base_date: BaseDate,
    /// When the meter stops accepting credit under this key.
    pub expiry: KeyExpiry,
}

impl KeyParameters {
    /// The parameters of the key to which a meter is rolled over: the next base date, under a vending key of this revision. `None`
    /// if there is no next base date, or if the revision is the same. See [`BaseDate`] for the procedure.
    ///
    /// ```
    /// # use sts::*;
    /// # let before = KeyParameters {
    /// #     supply_group: SupplyGroupCode::parse("123457")?,
    /// #     tariff_index: TariffIndex::parse("01")?,
    /// #     revision: KeyRevision::try_new(1)?,
    /// #     key_type: KeyType::Unique,
    /// #     base_date: BaseDate::Year1993,
    /// #     expiry: KeyExpiry::NEVER,
    /// # };
    /// let after = before.rolled_over(KeyRevision::try_new(4)?).expect("1993 is not the last base date");
    /// assert_eq!(after.base_date, BaseDate::Year2014);
    /// assert_eq!(before.rolled_over(before.revision), None);
    /// # Ok::<(), KeyParameterError>(())
    /// ```
    #[must_use]
    pub fn rolled_over(self, revision: KeyRevision) -> Option<Self> {
        let base_date = self.base_date.next()?;
        (revision != self.revision).then_some(Self { revision, base_date, ..self })
    }
}

/// Why a value is not a valid key parameter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyParameterError {
    /// A supply group code has six digits.
    #[error("a supply group code has six digits")]
    SupplyGroupCode,
    /// A tariff index is a number of at most two digits.
    #[error("a tariff index lies between 00 and 99")]
    TariffIndex,
    /// A key revision number is one digit, and not zero.
    #[error("a key revision number lies between 1 and 9")]
    KeyRevision,
}

/// Reads a number of 1 to `places` ASCII digits.
fn number(text: &str, places: usize) -> Option<u32> {
    let digits = !text.is_empty() && text.len() <= places && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| digits)
}
