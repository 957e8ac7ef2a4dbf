//! The wallets of a group. They are locked, and changed in memory by the ledger's rules, just as the database changes
//! them when the group is written. This module writes nothing.

use std::collections::BTreeMap;

use database::{Connection, DatabaseError, Run, Statement, prepared};
use diesel::sql_types::{Array, BigInt, Nullable, Text};
use ledger::{AccountId, Category, LedgerError, Wallet};
use money::{Currency, Money};
use purchase::{Handling, OrganisationId};

struct LockWallets;

impl Statement for LockWallets {
    const SQL: &str = include_str!("../sql/lock_wallets.sql");
}

#[derive(diesel::QueryableByName)]
struct Row {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = BigInt)]
    organisation_id: i64,
    #[diesel(sql_type = Text)]
    currency: String,
    #[diesel(sql_type = Nullable<Text>)]
    category: Option<String>,
    #[diesel(sql_type = Text)]
    status: String,
    #[diesel(sql_type = Text)]
    handling: String,
    #[diesel(sql_type = Nullable<BigInt>)]
    posted: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    held: Option<i64>,
}

/// A wallet that this transaction has locked.
#[derive(Clone, Copy, Debug)]
pub(super) struct LockedWallet {
    pub(super) organisation: OrganisationId,
    pub(super) is_active: bool,
    pub(super) category: Category,
    pub(super) handling: Handling,
    pub(super) wallet: Wallet,
}

/// All wallets of a group.
#[derive(Debug, Default)]
pub(super) struct Wallets {
    locked: BTreeMap<AccountId, LockedWallet>,
}

impl Wallets {
    /// Locks these wallets and the wallets of these purchases.
    pub(super) async fn lock(
        connection: &Connection,
        accounts: &[i64],
        purchases: &[i64],
    ) -> Result<Self, DatabaseError> {
        let rows: Vec<Row> = prepared::<LockWallets>()
            .bind::<Array<BigInt>, _>(accounts)
            .bind::<Array<BigInt>, _>(purchases)
            .load(connection)
            .await?;
        let mut locked = BTreeMap::new();
        for row in rows {
            locked.insert(AccountId(row.id), LockedWallet::try_from(row)?);
        }
        Ok(Self { locked })
    }

    pub(super) fn get(&self, id: AccountId) -> Option<&LockedWallet> {
        self.locked.get(&id)
    }

    /// Applies one of the ledger's rules. A refused rule changes nothing.
    pub(super) fn apply(
        &mut self,
        id: AccountId,
        rule: impl FnOnce(Wallet) -> Result<Wallet, LedgerError>,
    ) -> Result<(), ApplyError> {
        let locked = self.locked.get_mut(&id).ok_or(ApplyError::NotLocked(id))?;
        locked.wallet = rule(locked.wallet).map_err(ApplyError::Ledger)?;
        Ok(())
    }
}

/// Why a rule was not applied.
#[derive(Debug)]
pub(super) enum ApplyError {
    /// The account is not among the locked wallets.
    NotLocked(AccountId),
    /// The ledger refused.
    Ledger(LedgerError),
}

impl TryFrom<Row> for LockedWallet {
    type Error = DatabaseError;

    fn try_from(row: Row) -> Result<Self, DatabaseError> {
        let corrupt = |column| DatabaseError::corrupt("accounts", column, row.id);
        let currency = Currency::in_hundredths(&row.currency).map_err(|_malformed| corrupt("currency"))?;
        let amount = |minor: Option<i64>, column| {
            minor.map(|minor| Money::from_minor(minor, currency)).ok_or_else(|| corrupt(column))
        };
        let (posted, held) = (amount(row.posted, "posted")?, amount(row.held, "held")?);
        Ok(Self {
            organisation: OrganisationId(row.organisation_id),
            is_active: row.status == "ACTIVE",
            category: row.category.as_deref().and_then(Category::parse).ok_or_else(|| corrupt("category"))?,
            handling: Handling::parse(&row.handling).ok_or_else(|| corrupt("handling"))?,
            wallet: Wallet::new(AccountId(row.id), posted, held).map_err(|_contradiction| corrupt("held"))?,
        })
    }
}
