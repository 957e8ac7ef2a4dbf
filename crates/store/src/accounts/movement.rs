//! Which way an operator moves money, and what becomes of the wallet.

use ledger::{EntryKind, HouseAccount, LedgerError, Wallet};
use money::Money;

/// Where the money comes from or goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Movement {
    /// The integrator paid in.
    TopUp,
    /// A correction in the integrator's favour, out of this account of the house.
    AdjustUp(HouseAccount),
    /// A correction at the integrator's cost, into this account of the house.
    AdjustDown(HouseAccount),
}

impl Movement {
    pub(super) const fn kind(self) -> EntryKind {
        match self {
            Self::TopUp => EntryKind::TopUp,
            Self::AdjustUp(_) | Self::AdjustDown(_) => EntryKind::Adjust,
        }
    }

    pub(super) const fn house(self) -> HouseAccount {
        match self {
            Self::TopUp => HouseAccount::Funding,
            Self::AdjustUp(house) | Self::AdjustDown(house) => house,
        }
    }

    pub(super) const fn takes(self) -> bool {
        match self {
            Self::TopUp | Self::AdjustUp(_) => false,
            Self::AdjustDown(_) => true,
        }
    }

    /// What becomes of the wallet.
    pub(super) fn apply(self, wallet: Wallet, amount: Money) -> Result<Wallet, LedgerError> {
        if self.takes() { wallet.place_hold(amount)?.capture_hold(amount) } else { wallet.credit(amount) }
    }
}
