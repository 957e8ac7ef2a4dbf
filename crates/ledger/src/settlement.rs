//! The postings of a settled purchase.

use money::Money;

use crate::{AccountId, EntryKind, JournalEntry, LedgerError, Posting};

/// The accounts that a settled purchase touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettlementAccounts {
    /// The buyer's wallet, which is debited.
    pub wallet: AccountId,
    /// The buyer's commission wallet. It is used only if commission is due.
    pub commission: AccountId,
    /// What is owed to the provider ([`SystemAccount::ProviderPayable`](crate::SystemAccount)).
    pub provider_payable: AccountId,
    /// Fees earned ([`SystemAccount::FeeIncome`](crate::SystemAccount)).
    pub fee_income: AccountId,
    /// Commission granted ([`SystemAccount::CommissionExpense`](crate::SystemAccount)).
    pub commission_expense: AccountId,
}

/// The amounts of a settled purchase, all of one currency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settlement {
    /// The amount that the provider vended. It moves from the wallet to the provider.
    pub net: Money,
    /// The seller's fee. It moves from the wallet to fee income.
    pub charge: Money,
    /// The buyer's commission. It moves from commission expense to the commission wallet.
    pub commission: Money,
}

impl Settlement {
    /// What the purchase costs its buyer, `net + charge`: hold this amount when the purchase begins.
    ///
    /// # Errors
    /// [`LedgerError::Money`] if the currencies differ, or the sum overflows.
    pub fn total(&self) -> Result<Money, LedgerError> {
        Ok(self.net.plus(self.charge)?)
    }

    /// The single entry of a settled purchase. It debits the wallet by exactly its [total](Self::total), the
    /// amount that was held for the purchase.
    pub fn entry(&self, accounts: &SettlementAccounts) -> Result<JournalEntry, LedgerError> {
        let moves = [
            (accounts.wallet, accounts.provider_payable, self.net),
            (accounts.wallet, accounts.fee_income, self.charge),
            (accounts.commission_expense, accounts.commission, self.commission),
        ];
        let postings = moves
            .into_iter()
            .filter(|(_, _, amount)| !amount.is_zero())
            .map(|(debit, credit, amount)| Posting::new(debit, credit, amount))
            .collect::<Result<Vec<_>, _>>()?;
        JournalEntry::new(EntryKind::Settle, postings)
    }
}

#[cfg(test)]
mod tests {
    use money::Currency;

    use super::*;

    const ACCOUNTS: SettlementAccounts = SettlementAccounts {
        wallet: AccountId(1),
        commission: AccountId(2),
        provider_payable: AccountId(3),
        fee_income: AccountId(4),
        commission_expense: AccountId(5),
    };

    fn moves(net: i64, charge: i64, commission: i64) -> Vec<(i64, i64, i64)> {
        let pula = |minor| Money::from_minor(minor, Currency::parse("BWP").unwrap());
        let settlement = Settlement { net: pula(net), charge: pula(charge), commission: pula(commission) };
        let entry = settlement.entry(&ACCOUNTS).unwrap();
        entry.postings().iter().map(|p| (p.debit().0, p.credit().0, p.amount().minor())).collect()
    }

    #[test]
    fn the_wallet_pays_provider_and_fee_and_we_pay_commission() {
        assert_eq!(moves(10_000, 150, 100), [(1, 3, 10_000), (1, 4, 150), (5, 2, 100)]);
    }

    #[test]
    fn the_total_is_what_the_wallet_pays() {
        let pula = |minor| Money::from_minor(minor, Currency::parse("BWP").unwrap());
        let sale = Settlement { net: pula(10_000), charge: pula(150), commission: pula(100) };
        let paid = sale.entry(&ACCOUNTS).unwrap();
        let paid = paid.postings().iter().filter(|posting| posting.debit() == ACCOUNTS.wallet);
        assert_eq!(sale.total(), Ok(Money::sum(pula(0).currency(), paid.map(Posting::amount)).unwrap()));
        let rand = Money::from_minor(150, Currency::parse("ZAR").unwrap());
        assert!(Settlement { charge: rand, ..sale }.total().is_err());
    }

    #[test]
    fn what_is_nothing_is_not_posted() {
        assert_eq!(moves(10_000, 0, 0), [(1, 3, 10_000)]);
    }
}
