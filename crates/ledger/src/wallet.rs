//! A wallet: its posted balance, and the part of it that is held.

use money::{Currency, Money};

use crate::{AccountId, LedgerError};

/// The account of a customer who has paid in advance. `posted - held` never falls below zero. Each operation consumes the wallet and
/// returns the new one, so a refused operation changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wallet {
    id: AccountId,
    posted: Money,
    held: Money,
}

impl Wallet {
    /// A wallet as stored. Fails when the two balances contradict each other.
    pub fn new(id: AccountId, posted: Money, held: Money) -> Result<Self, LedgerError> {
        let available = posted.minus(held)?;
        if held.minor() < 0 || available.minor() < 0 {
            return Err(LedgerError::Contradiction);
        }
        Ok(Self { id, posted, held })
    }

    /// The account's number.
    pub const fn id(&self) -> AccountId {
        self.id
    }

    /// The currency of both balances.
    pub const fn currency(&self) -> Currency {
        self.posted.currency()
    }

    /// The sum of all postings.
    pub const fn posted(&self) -> Money {
        self.posted
    }

    /// The sum of all holds.
    pub const fn held(&self) -> Money {
        self.held
    }

    /// The amount that can still be spent: `posted - held`.
    pub fn available(&self) -> Result<Money, LedgerError> {
        Ok(self.posted.minus(self.held)?)
    }

    /// Holds an amount for one purchase.
    pub fn place_hold(self, amount: Money) -> Result<Self, LedgerError> {
        positive(amount)?;
        let rest = self.available()?.minus(amount)?;
        if rest.minor() < 0 {
            let gap = amount.minus(self.available()?)?;
            return Err(LedgerError::Insufficient { gap });
        }
        Ok(Self { held: self.held.plus(amount)?, ..self })
    }

    /// Releases a hold.
    pub fn release_hold(self, amount: Money) -> Result<Self, LedgerError> {
        Ok(Self { held: self.take_from_hold(amount)?, ..self })
    }

    /// Turns a hold into a debit. A debit without a purchase is a hold that is captured at once.
    pub fn capture_hold(self, amount: Money) -> Result<Self, LedgerError> {
        Ok(Self { held: self.take_from_hold(amount)?, posted: self.posted.minus(amount)?, ..self })
    }

    /// Credits the wallet with an amount that was paid in.
    pub fn credit(self, amount: Money) -> Result<Self, LedgerError> {
        positive(amount)?;
        Ok(Self { posted: self.posted.plus(amount)?, ..self })
    }

    fn take_from_hold(&self, amount: Money) -> Result<Money, LedgerError> {
        positive(amount)?;
        let rest = self.held.minus(amount)?;
        if rest.minor() < 0 { Err(LedgerError::NotHeld) } else { Ok(rest) }
    }
}

fn positive(amount: Money) -> Result<(), LedgerError> {
    if amount.is_positive() { Ok(()) } else { Err(LedgerError::NotPositive(amount)) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pula(minor: i64) -> Money {
        Money::from_minor(minor, Currency::parse("BWP").unwrap())
    }

    fn wallet(posted: i64, held: i64) -> Wallet {
        Wallet::new(AccountId(1), pula(posted), pula(held)).unwrap()
    }

    #[test]
    fn a_hold_beyond_the_balance_names_the_gap() {
        assert_eq!(
            wallet(10_000, 9_000).place_hold(pula(1_001)),
            Err(LedgerError::Insufficient { gap: pula(1) })
        );
        assert_eq!(wallet(10_000, 9_000).place_hold(pula(1_000)), Ok(wallet(10_000, 10_000)));
    }

    #[test]
    fn a_captured_hold_is_a_debit_and_a_released_one_is_nothing() {
        let held = wallet(10_000, 0).place_hold(pula(4_000)).unwrap();
        assert_eq!(held.capture_hold(pula(4_000)), Ok(wallet(6_000, 0)));
        assert_eq!(held.release_hold(pula(4_000)), Ok(wallet(10_000, 0)));
    }

    #[test]
    fn nothing_is_taken_from_a_hold_that_is_not_there() {
        assert_eq!(wallet(10_000, 100).capture_hold(pula(101)), Err(LedgerError::NotHeld));
        assert_eq!(wallet(10_000, 100).release_hold(pula(101)), Err(LedgerError::NotHeld));
        assert_eq!(wallet(10_000, 0).place_hold(pula(0)), Err(LedgerError::NotPositive(pula(0))));
    }

    #[test]
    fn contradicting_balances_are_no_wallet() {
        for (posted, held) in [(0, 1), (10, -1), (-1, 0)] {
            assert_eq!(Wallet::new(AccountId(1), pula(posted), pula(held)), Err(LedgerError::Contradiction));
        }
    }

    proptest! {
        #[test]
        fn no_sequence_of_operations_overdraws_a_wallet(steps in prop::collection::vec((0_u8..4, 1_i64..5_000), 0..200)) {
            let mut wallet = wallet(10_000, 0);
            for (kind, minor) in steps {
                let amount = pula(minor);
                let next = match kind {
                    0 => wallet.place_hold(amount),
                    1 => wallet.release_hold(amount),
                    2 => wallet.capture_hold(amount),
                    _ => wallet.credit(amount),
                };
                wallet = next.unwrap_or(wallet);
                prop_assert!(wallet.available().unwrap().minor() >= 0);
                prop_assert!(wallet.held().minor() >= 0);
            }
        }
    }
}
