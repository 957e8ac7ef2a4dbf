//! The books of a shop that sells prepaid electricity: `cargo run -p vendgate-ledger --example shop`.
//!
//! A customer has a wallet with the shop. The shop owes it the balance, so a credit raises it. The shop owes the utility
//! for what the utility has vended, and earns a fee.

use std::fmt::Write as _;

use ledger::{
    AccountId, AccountStatement, Balances, EntryKind, JournalEntry, LedgerError, Posting, Settlement,
    SettlementAccounts, Wallet,
};
use money::Money;

const CASH: AccountId = AccountId(1);
const UTILITY: AccountId = AccountId(2);
const FEES: AccountId = AccountId(3);
const COMMISSIONS_GIVEN: AccountId = AccountId(4);
const CUSTOMER: AccountId = AccountId(10);
const COMMISSION_OF_CUSTOMER: AccountId = AccountId(11);

/// What happens on one day, in the order of the journal.
fn journal() -> Result<Vec<(&'static str, JournalEntry)>, LedgerError> {
    let accounts = SettlementAccounts {
        wallet: CUSTOMER,
        commission: COMMISSION_OF_CUSTOMER,
        provider_payable: UTILITY,
        fee_income: FEES,
        commission_expense: COMMISSIONS_GIVEN,
    };
    let sale = Settlement {
        net: "BWP 100.00".parse()?,
        charge: "BWP 1.50".parse()?,
        commission: "BWP 0.50".parse()?,
    };
    let moves = |kind, debit, credit, amount: &str| {
        JournalEntry::new(kind, vec![Posting::new(debit, credit, amount.parse()?)?])
    };
    Ok(vec![
        ("09:00", moves(EntryKind::TopUp, CASH, CUSTOMER, "BWP 250.00")?),
        ("09:30", sale.entry(&accounts)?),
        ("16:00", moves(EntryKind::Adjust, UTILITY, CASH, "BWP 100.00")?),
    ])
}

/// The day as a page: the customer's statement, and the balance of every account.
pub fn books() -> Result<String, LedgerError> {
    let journal = journal()?;
    // A sale begins with a hold, so that the customer cannot spend the same money twice. No entry is made for it.
    let total: Money = "BWP 101.50".parse()?;
    let wallet = Wallet::new(CUSTOMER, "BWP 250.00".parse()?, "BWP 0.00".parse()?)?;
    let paid = wallet.place_hold(total)?.capture_hold(total)?;

    let nothing = Money::zero(total.currency());
    let entries = journal.iter().map(|(time, entry)| (*time, entry));
    let statement = AccountStatement::of(CUSTOMER, nothing, entries)?;
    let balances = Balances::of(journal.iter().map(|(_, entry)| entry))?;
    let mut page = format!("opening {}\n", statement.opening);
    for line in &statement.lines {
        let _infallible =
            writeln!(page, "{} {} {} {}", line.mark, line.kind.as_str(), line.amount, line.balance);
    }
    let _infallible = writeln!(page, "closing {}, wallet {}", statement.closing, paid.posted());
    for (account, balance) in balances.iter() {
        let _infallible = writeln!(page, "account {} {balance}", account.0);
    }
    Ok(page)
}

#[expect(clippy::print_stdout, reason = "an example shows what it computes")]
#[cfg_attr(test, expect(dead_code, reason = "a test uses only the page"))]
fn main() -> Result<(), LedgerError> {
    print!("{}", books()?);
    Ok(())
}
