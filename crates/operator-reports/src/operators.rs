//! `vendctl operators`: who may act as an operator.

use clap::Subcommand;
use directory::{Operator, OperatorRole, list_operators};
use serde::Serialize;

use crate::{
    error::VendctlError,
    report::{Report, Row, yes},
    session::Session,
};

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// List the logins of operators, and their roles
    #[command(
        after_help = "Logins belong to the database server, so its superuser makes and removes them, and grants roles: VENDCTL.md has \
                      the statements. Superusers are above all roles and are not listed.\n\nExample:\n  vendctl operators list"
    )]
    List,
}

#[derive(Serialize)]
struct View {
    login: String,
    roles: Vec<&'static str>,
    reads_tokens: bool,
}

pub async fn run(session: &Session, verb: &Verb) -> Result<Report, VendctlError> {
    match verb {
        Verb::List => {
            let operators = list_operators(session.database()).await?;
            Ok(Report::list(&operators.into_iter().map(View::from).collect::<Vec<_>>()))
        }
    }
}

impl From<Operator> for View {
    fn from(Operator { login, roles, reads_tokens }: Operator) -> Self {
        Self { login, roles: roles.into_iter().map(OperatorRole::word).collect(), reads_tokens }
    }
}

impl Row for View {
    const COLUMNS: &'static [&'static str] = &["login", "roles", "reads tokens"];

    fn cells(&self) -> Vec<String> {
        vec![self.login.clone(), self.roles.join(", "), yes(self.reads_tokens)]
    }
}
