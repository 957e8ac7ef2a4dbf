//! The direction of an operator's payment, and its effect on the wallet.

use ledger::{EntryKind, LedgerError, SystemAccount, Wallet};
use money::Money;

/// Where the money comes from or goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Movement {
    /// The integrator paid in.
    TopUp,
    /// A correction in the integrator's favour, out of this system account.
    AdjustUp(SystemAccount),
    /// A correction at the integrator's cost, into this system account.
    AdjustDown(SystemAccount),
    /// Commission that was collected is paid out to the integrator.
    PayOut,
}

impl Movement {
    pub(super) const fn kind(self) -> EntryKind {
        match self {
            Self::TopUp => EntryKind::TopUp,
            Self::AdjustUp(_) | Self::AdjustDown(_) | Self::PayOut => EntryKind::Adjust,
        }
    }

    /// The account on the other side.
    pub const fn system_account(self) -> SystemAccount {
        match self {
            Self::TopUp | Self::PayOut => SystemAccount::Funding,
            Self::AdjustUp(system_account) | Self::AdjustDown(system_account) => system_account,
        }
    }

    /// Whether the wallet has less afterwards.
    pub const fn takes(self) -> bool {
        match self {
            Self::TopUp | Self::AdjustUp(_) => false,
            Self::AdjustDown(_) | Self::PayOut => true,
        }
    }

    /// The wallet after the movement.
    pub(super) fn apply(self, wallet: Wallet, amount: Money) -> Result<Wallet, LedgerError> {
        if self.takes() { wallet.place_hold(amount)?.capture_hold(amount) } else { wallet.credit(amount) }
    }
}
