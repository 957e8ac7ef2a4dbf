//! `vendctl role`: the roles of users. The program defines them, and each user has one.

use clap::Subcommand;
use identity::{Permission, Role, scope};
use serde::Serialize;

use crate::report::{Report, Row};

#[derive(Clone, Copy, Debug, Subcommand)]
pub(crate) enum Verb {
    /// List the roles and their permissions
    #[command(after_help = "Example:\n  vendctl role list")]
    List,
}

#[derive(Serialize)]
struct View {
    role: &'static str,
    scope: &'static str,
    permissions: Vec<&'static str>,
}

pub(crate) fn run(verb: Verb) -> Report {
    match verb {
        Verb::List => Report::list(&[Role::Integrator, Role::Viewer].map(View::from)),
    }
}

impl From<Role> for View {
    fn from(role: Role) -> Self {
        let permissions = Permission::of(role).iter().map(|permission| permission.code()).collect();
        Self { role: role.code(), scope: scope(role), permissions }
    }
}

impl Row for View {
    const COLUMNS: &'static [&'static str] = &["role", "scope", "permissions"];

    fn cells(&self) -> Vec<String> {
        vec![self.role.to_owned(), self.scope.to_owned(), self.permissions.join(", ")]
    }
}
