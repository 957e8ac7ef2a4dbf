//! Issued tokens (specification, section 5), and their holder.

use serde::Serialize;

use identity::{Caller, IssuedTokens, Permission, Role};

use super::{Account, Actor};

/// The answer to login and refresh. No `Debug`, because it holds the tokens that give access to the wallet.
#[derive(Serialize)]
pub struct Session {
    access_token: String,
    access_in: u32,
    token_type: &'static str,
    refresh_token: String,
    scope: &'static str,
}

impl From<IssuedTokens> for Session {
    fn from(issued: IssuedTokens) -> Self {
        Self {
            access_token: issued.access_token.expose().to_owned(),
            access_in: issued.access_in,
            token_type: "bearer",
            refresh_token: issued.refresh_token.expose().to_owned(),
            scope: issued.scope,
        }
    }
}

/// The answer to `/auth/me`.
#[derive(Debug, Serialize)]
pub struct Me {
    actor: Actor,
    role: WireRole,
    organisation: Organisation,
    accounts: Vec<Account>,
}

#[derive(Debug, Serialize)]
struct WireRole {
    code: &'static str,
    name: &'static str,
    permissions: Vec<&'static str>,
}

#[derive(Debug, Serialize)]
struct Organisation {
    id: i64,
    code: String,
    name: String,
    environment: &'static str,
}

impl Me {
    /// The caller with the accounts of its organisation.
    pub fn new(caller: &Caller, accounts: Vec<ledger::Account>) -> Self {
        Self {
            actor: Actor::user(caller),
            role: WireRole {
                code: caller.role.code(),
                name: name_of(caller.role),
                permissions: permissions_of(caller),
            },
            organisation: Organisation {
                id: caller.organisation.id,
                code: caller.organisation.code.clone(),
                name: caller.organisation.name.clone(),
                environment: caller.organisation.environment.code(),
            },
            accounts: accounts.into_iter().map(Account::from).collect(),
        }
    }
}

const fn name_of(role: Role) -> &'static str {
    match role {
        Role::Integrator => "Integrator",
        Role::Viewer => "Viewer",
    }
}

/// The permissions that this surface had when it was frozen. Later ones belong to endpoints that it does not have.
fn permissions_of(caller: &Caller) -> Vec<&'static str> {
    let is_known = |permission: &Permission| match permission {
        Permission::AccountsRead
        | Permission::ProductsRead
        | Permission::PurchasesValidate
        | Permission::PurchasesConfirm
        | Permission::PurchasesRetry
        | Permission::PurchasesRead => true,
        Permission::SubscribersRead
        | Permission::MessagesSend
        | Permission::WebhooksRead
        | Permission::WebhooksManage
        | Permission::BatchesRead
        | Permission::BatchesManage => false,
    };
    caller.permissions().iter().copied().filter(is_known).map(Permission::code).collect()
}
