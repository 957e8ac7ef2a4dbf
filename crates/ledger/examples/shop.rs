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

/// The accounts between which the money of a sale moves.
const ACCOUNTS: SettlementAccounts = SettlementAccounts {
    wallet: CUSTOMER,
    commission: COMMISSION_OF_CUSTOMER,
    provider_payable: UTILITY,
    fee_income: FEES,
    commission_expense: COMMISSIONS_GIVEN,
};

/// An entry of the journal, and when it was made.
type Line = (&'static str, JournalEntry);

/// The shop: the wallet of its one customer, and its journal, day by day.
struct Shop {
    wallet: Wallet,
    days: Vec<Vec<Line>>,
}

impl Shop {
    fn open() -> Result<Self, LedgerError> {
        let nothing: Money = "BWP 0.00".parse()?;
        Ok(Self { wallet: Wallet::new(CUSTOMER, nothing, nothing)?, days: Vec::new() })
    }

    fn write(&mut self, time: &'static str, entry: JournalEntry) {
        if let Some(today) = self.days.last_mut() {
            today.push((time, entry));
        }
    }

    /// The customer pays in.
    fn top_up(&mut self, time: &'static str, amount: &str) -> Result<(), LedgerError> {
        let amount: Money = amount.parse()?;
        self.wallet = self.wallet.credit(amount)?;
        let posting = Posting::new(CASH, CUSTOMER, amount)?;
        self.write(time, JournalEntry::new(EntryKind::TopUp, vec![posting])?);
        Ok(())
    }

    /// A sale begins with a hold, so that the customer cannot spend the same money twice. No entry is made for it. Only when the
    /// utility has vended, the hold is captured and an entry moves the money. If it refuses, the hold is released, and nothing is
    /// written.
    fn sell(&mut self, time: &'static str, net: &str, vends: bool) -> Result<(), LedgerError> {
        let sale =
            Settlement { net: net.parse()?, charge: "BWP 1.50".parse()?, commission: "BWP 0.50".parse()? };
        let held = self.wallet.place_hold(sale.total()?)?;
        if vends {
            self.wallet = held.capture_hold(sale.total()?)?;
            self.write(time, sale.entry(&ACCOUNTS)?);
        } else {
            self.wallet = held.release_hold(sale.total()?)?;
        }
        Ok(())
    }

    /// The shop pays the utility what it owes. No wallet is moved.
    fn pay_out(&mut self, time: &'static str, amount: &str) -> Result<(), LedgerError> {
        let posting = Posting::new(UTILITY, CASH, amount.parse()?)?;
        self.write(time, JournalEntry::new(EntryKind::Payout, vec![posting])?);
        Ok(())
    }
}

/// Two days as pages: the customer's statement of each, and the balance of every account at the end.
pub fn books() -> Result<String, LedgerError> {
    let mut shop = Shop::open()?;
    shop.days.push(Vec::new());
    shop.top_up("09:00", "BWP 250.00")?;
    shop.sell("09:30", "BWP 100.00", true)?;
    shop.sell("10:00", "BWP 40.00", false)?;
    shop.pay_out("16:00", "BWP 100.00")?;
    shop.days.push(Vec::new());
    shop.sell("08:15", "BWP 60.00", true)?;

    let mut page = String::new();
    let mut opening: Money = "BWP 0.00".parse()?;
    for (day, journal) in (1..).zip(&shop.days) {
        // The closing balance of a day is the opening balance of the next.
        let entries = journal.iter().map(|(time, entry)| (*time, entry));
        let statement = AccountStatement::of(CUSTOMER, opening, entries)?;
        let _infallible = writeln!(page, "day {day}: opening {}", statement.opening);
        for line in &statement.lines {
            let (amount, balance) = (line.amount, line.balance);
            let _infallible =
                writeln!(page, "{} {:8} {amount:>12} {balance:>12}", line.mark, line.kind.as_str());
        }
        let _infallible = writeln!(page, "day {day}: closing {}", statement.closing);
        opening = statement.closing;
    }
    let _infallible = writeln!(page, "wallet {}", shop.wallet.posted());
    let balances = Balances::of(shop.days.iter().flatten().map(|(_, entry)| entry))?;
    for (account, balance) in balances.iter() {
        let _infallible = writeln!(page, "account {:2} {balance:>12}", account.0);
    }
    Ok(page)
}

#[expect(clippy::print_stdout, reason = "an example shows what it computes")]
#[cfg_attr(test, expect(dead_code, reason = "a test uses only the page"))]
fn main() -> Result<(), LedgerError> {
    print!("{}", books()?);
    Ok(())
}
