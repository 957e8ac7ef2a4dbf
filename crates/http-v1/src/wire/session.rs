//! Issued tokens (specification, section 5), and their holder.

use serde::Serialize;
use utoipa::ToSchema;

use identity::{Caller, IssuedTokens, Role};

use super::Actor;
use crate::schema::values::{EnvironmentCode, PermissionCode, RoleCode};

/// The answer to login and refresh.
#[derive(Serialize, ToSchema)]
pub struct Session {
    /// Send it as `Authorization: Bearer`.
    access_token: String,
    /// The lifetime of the access token, in seconds.
    access_in: u32,
    /// Always `bearer`.
    #[schema(pattern = "^bearer$")]
    token_type: &'static str,
    /// Valid for one refresh.
    refresh_token: String,
    /// `read write`, or `read` for a user who may not buy.
    #[schema(pattern = "^read( write)?$")]
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
#[derive(Debug, Serialize, ToSchema)]
pub struct Me<'a> {
    actor: Actor<'a>,
    #[schema(inline)]
    role: WireRole,
    #[schema(inline)]
    organisation: Organisation<'a>,
}

/// The role of a user, and what it allows.
#[derive(Debug, Serialize, ToSchema)]
struct WireRole {
    #[schema(value_type = RoleCode)]
    code: &'static str,
    name: &'static str,
    #[schema(value_type = Vec<PermissionCode>)]
    permissions: Vec<&'static str>,
}

/// The organisation that owns the wallets.
#[derive(Debug, Serialize, ToSchema)]
struct Organisation<'a> {
    id: i64,
    code: &'a str,
    name: &'a str,
    #[schema(value_type = EnvironmentCode)]
    environment: &'static str,
}

impl<'a> From<&'a Caller> for Me<'a> {
    fn from(caller: &'a Caller) -> Self {
        Self {
            actor: Actor::user(caller),
            role: WireRole {
                code: caller.role.code(),
                name: name_of(caller.role),
                permissions: caller.permissions().iter().map(|permission| permission.code()).collect(),
            },
            organisation: Organisation {
                id: caller.organisation.id,
                code: &caller.organisation.code,
                name: &caller.organisation.name,
                environment: caller.organisation.environment.code(),
            },
        }
    }
}

const fn name_of(role: Role) -> &'static str {
    match role {
        Role::Integrator => "Integrator",
        Role::Viewer => "Viewer",
    }
}
