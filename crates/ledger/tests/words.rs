//! The names of the ledger in the database and on the wire, and what a wallet may be used for.

#[path = "../examples/shop.rs"]
mod shop;

use ledger::{AccountId, Category, EntryKind, SystemAccount, Wallet};
use money::{Currency, Money};

fn pula(minor: i64) -> Money {
    Money::from_minor(minor, Currency::parse("BWP").expect("a currency"))
}

#[test]
fn the_names_of_accounts_and_entries_do_not_change() {
    let categories = Category::ALL.map(Category::as_str);
    assert_eq!(categories, ["CURRENT", "COMMISSION", "TOPUP"]);
    let system_accounts = SystemAccount::ALL.map(SystemAccount::as_str);
    assert_eq!(
        system_accounts,
        ["PROVIDER_PAYABLE", "FEE_INCOME", "COMMISSION_EXPENSE", "FUNDING", "SUSPENSE"]
    );
    let entries = EntryKind::ALL.map(EntryKind::as_str);
    assert_eq!(entries, ["SETTLE", "TOP_UP", "ADJUST", "INCIDENT", "UNMATCHED_VEND", "PAYOUT"]);
}

#[test]
fn a_category_is_read_back_and_nothing_else_is_one() {
    for category in Category::ALL {
        assert_eq!(Category::parse(category.as_str()), Some(category));
    }
    for text in ["", "current", "SAVINGS"] {
        assert_eq!(Category::parse(text), None, "{text:?}");
    }
}

#[test]
fn no_purchase_is_paid_from_a_commission_account() {
    let can_be_debited = Category::ALL.map(Category::can_be_debited);
    assert_eq!(can_be_debited, [true, false, true]);
}

#[test]
fn what_is_paid_in_is_posted_and_touches_no_hold() {
    let wallet = Wallet::new(AccountId(7), pula(10_000), pula(4_000)).unwrap();
    let richer = wallet.credit(pula(250)).unwrap();
    assert_eq!((richer.posted(), richer.held()), (pula(10_250), pula(4_000)));
    assert_eq!((richer.id(), richer.currency()), (AccountId(7), pula(0).currency()));
}

#[test]
fn the_books_of_the_example_are_what_a_bookkeeper_would_write() {
    let page = "\
day 1: opening BWP 0.00
09:00 TOP_UP     BWP 250.00   BWP 250.00
09:30 SETTLE    BWP -100.00   BWP 150.00
09:30 SETTLE      BWP -1.50   BWP 148.50
day 1: closing BWP 148.50
day 2: opening BWP 148.50
08:15 SETTLE     BWP -60.00    BWP 88.50
08:15 SETTLE      BWP -1.50    BWP 87.00
day 2: closing BWP 87.00
wallet BWP 87.00
account  1  BWP -150.00
account  2    BWP 60.00
account  3     BWP 3.00
account  4    BWP -1.00
account 10    BWP 87.00
account 11     BWP 1.00
";
    assert_eq!(shop::books(), Ok(page.to_owned()));
}
