//! The permissions of callers, and the roles that have them.

use directory::Role;

/// One kind of action that a caller may be allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Permission {
    AccountsRead,
    ProductsRead,
    PurchasesValidate,
    PurchasesConfirm,
    PurchasesRetry,
    PurchasesRead,
    /// The last tokens of a subscriber, by its number alone.
    SubscribersRead,
    /// Has the message with a token sent again.
    MessagesSend,
    WebhooksRead,
    WebhooksManage,
    BatchesRead,
    /// Makes batches, and pauses, resumes and cancels them.
    BatchesManage,
}

impl Permission {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::AccountsRead,
        Self::ProductsRead,
        Self::PurchasesValidate,
        Self::PurchasesConfirm,
        Self::PurchasesRetry,
        Self::PurchasesRead,
        Self::SubscribersRead,
        Self::MessagesSend,
        Self::WebhooksRead,
        Self::WebhooksManage,
        Self::BatchesRead,
        Self::BatchesManage,
    ];

    /// Its name on the wire.
    pub const fn code(self) -> &'static str {
        match self {
            Self::AccountsRead => "accounts.read",
            Self::ProductsRead => "products.read",
            Self::PurchasesValidate => "purchases.validate",
            Self::PurchasesConfirm => "purchases.confirm",
            Self::PurchasesRetry => "purchases.retry",
            Self::PurchasesRead => "purchases.read",
            Self::SubscribersRead => "subscribers.read",
            Self::MessagesSend => "messages.send",
            Self::WebhooksRead => "webhooks.read",
            Self::WebhooksManage => "webhooks.manage",
            Self::BatchesRead => "batches.read",
            Self::BatchesManage => "batches.manage",
        }
    }

    /// The permissions of `role`.
    pub const fn of(role: Role) -> &'static [Self] {
        match role {
            Role::Integrator => &Self::ALL,
            Role::Viewer => &[
                Self::AccountsRead,
                Self::ProductsRead,
                Self::PurchasesValidate,
                Self::PurchasesRead,
                Self::WebhooksRead,
                Self::BatchesRead,
            ],
        }
    }
}

/// The OAuth scope that a role's tokens are issued with.
pub const fn scope(role: Role) -> &'static str {
    match role {
        Role::Integrator => "read write",
        Role::Viewer => "read",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_integrator_may_do_everything_and_a_viewer_nothing_that_moves_money() {
        assert_eq!(Permission::of(Role::Integrator), Permission::ALL);
        let viewer: Vec<_> = Permission::of(Role::Viewer).iter().map(|one| one.code()).collect();
        assert_eq!(
            viewer,
            [
                "accounts.read",
                "products.read",
                "purchases.validate",
                "purchases.read",
                "webhooks.read",
                "batches.read"
            ]
        );
        assert_eq!([Role::Integrator, Role::Viewer].map(scope), ["read write", "read"]);
    }
}
