//! `vendctl user`: in whose name an organisation's clients act.

mod password;

use clap::Subcommand;
use identity::{Party, Role, Status, UserDetails, UserRecord};
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;

use crate::{
    arguments::{Whose, Why},
    desk::Desk,
    error::VendctlError,
    parse,
    report::{Report, Row, instant, or_dash},
    words,
};

use password::PasswordFrom;

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Make a user
    #[command(
        after_help = "Examples:\n  vendctl user create till -o KGALE --full-name \"Till One\" --role integrator \
                      --generate-password --reason \"contract 17\"\n  vendctl user create till -o KGALE \
                      --full-name \"Till One\" --role viewer --password-stdin --reason \"contract 17\" < password.txt"
    )]
    Create {
        /// What it logs in as
        #[arg(value_parser = parse::name)]
        username: String,
        #[command(flatten)]
        whose: Whose,
        /// Its name for people
        #[arg(long, value_parser = parse::name)]
        full_name: String,
        /// What it may do: see `vendctl role list`
        #[arg(long, value_parser = words::role())]
        role: Role,
        /// Where its receipts are sent: E.164 digits without the plus
        #[arg(long, value_name = "DIGITS", value_parser = parse::phone_number)]
        phone: Option<String>,
        /// Where its receipts are mailed
        #[arg(long, value_name = "ADDRESS", value_parser = parse::email)]
        email: Option<String>,
        #[command(flatten)]
        password: PasswordFrom,
        #[command(flatten)]
        why: Why,
    },
    /// List an organisation's users
    #[command(after_help = "Example:\n  vendctl user list -o KGALE")]
    List {
        #[command(flatten)]
        whose: Whose,
    },
    /// Give a user another role
    #[command(
        after_help = "Example:\n  vendctl user set-role till -o KGALE viewer --reason \"reports only\""
    )]
    SetRole {
        /// What it logs in as
        username: String,
        /// What it may do: see `vendctl role list`
        #[arg(value_parser = words::role())]
        role: Role,
        #[command(flatten)]
        whose: Whose,
        #[command(flatten)]
        why: Why,
    },
    /// Replace a user's password, and end every session that was opened with the old one
    #[command(
        after_help = "Example:\n  vendctl user set-password till -o KGALE --generate-password --reason \"it was shared\""
    )]
    SetPassword {
        /// What it logs in as
        username: String,
        #[command(flatten)]
        whose: Whose,
        #[command(flatten)]
        password: PasswordFrom,
        #[command(flatten)]
        why: Why,
    },
    /// Keep a user out
    #[command(after_help = "Example:\n  vendctl user suspend till -o KGALE --reason \"left the company\"")]
    Suspend {
        /// What it logs in as
        username: String,
        #[command(flatten)]
        whose: Whose,
        #[command(flatten)]
        why: Why,
    },
    /// Let a suspended user in again
    #[command(after_help = "Example:\n  vendctl user readmit till -o KGALE --reason \"came back\"")]
    Readmit {
        /// What it logs in as
        username: String,
        #[command(flatten)]
        whose: Whose,
        #[command(flatten)]
        why: Why,
    },
}

#[derive(Serialize)]
struct View {
    id: i64,
    username: String,
    full_name: String,
    role: &'static str,
    status: &'static str,
    phone_number: Option<String>,
    email: Option<String>,
    created_at: String,
}

/// A user with a password that was made here. Not `Debug`: it is shown this once.
#[derive(Serialize)]
struct Introduced {
    #[serde(flatten)]
    user: View,
    password: String,
}

const NEVER_AGAIN: &str = "Hand the password over now: it is shown this once, and never again. A lost one is replaced by `vendctl user set-password`.";

pub(crate) async fn run(desk: &Desk, verb: &Verb) -> Result<Report, VendctlError> {
    match verb {
        Verb::Create { username, whose, full_name, role, phone, email, password, why } => {
            let chosen = password.choose(desk)?;
            let details = UserDetails {
                username: username.clone(),
                password: chosen.secret.clone(),
                full_name: full_name.clone(),
                phone_number: phone.clone(),
                email: email.clone(),
                role: *role,
            };
            desk.onboarding.create_user(&whose.organisation, details, desk.act(why)).await?;
            show(desk, whose, username, chosen.shown()).await
        }
        Verb::List { whose } => {
            let users = desk.onboarding.users(&whose.organisation).await?;
            Ok(Report::list(&users.into_iter().map(View::from).collect::<Vec<_>>()))
        }
        Verb::SetRole { username, role, whose, why } => {
            let user = find(desk, whose, username).await?;
            desk.onboarding.set_role(user.id, *role, desk.act(why)).await?;
            show(desk, whose, username, None).await
        }
        Verb::SetPassword { username, whose, password, why } => {
            let user = find(desk, whose, username).await?;
            let chosen = password.choose(desk)?;
            desk.onboarding.replace_password(user.id, chosen.secret.clone(), desk.act(why)).await?;
            show(desk, whose, username, chosen.shown()).await
        }
        Verb::Suspend { username, whose, why } => {
            set_status(desk, whose, username, Status::Suspended, why).await
        }
        Verb::Readmit { username, whose, why } => {
            set_status(desk, whose, username, Status::Active, why).await
        }
    }
}

async fn set_status(
    desk: &Desk,
    whose: &Whose,
    username: &str,
    status: Status,
    why: &Why,
) -> Result<Report, VendctlError> {
    let user = find(desk, whose, username).await?;
    desk.onboarding.set_status(Party::User(user.id), status, desk.act(why)).await?;
    show(desk, whose, username, None).await
}

async fn find(desk: &Desk, whose: &Whose, username: &str) -> Result<UserRecord, VendctlError> {
    Ok(desk.onboarding.user(&whose.organisation, username).await?)
}

async fn show(
    desk: &Desk,
    whose: &Whose,
    username: &str,
    password: Option<&SecretString>,
) -> Result<Report, VendctlError> {
    let user = View::from(find(desk, whose, username).await?);
    let Some(password) = password else { return Ok(Report::one(&user)) };
    let password = password.expose_secret().to_owned();
    Ok(Report::one(&Introduced { user, password }).noting(NEVER_AGAIN))
}

impl From<UserRecord> for View {
    fn from(record: UserRecord) -> Self {
        Self {
            id: record.id,
            username: record.username,
            full_name: record.full_name,
            role: record.role.code(),
            status: record.status.code(),
            phone_number: record.phone_number,
            email: record.email,
            created_at: instant(record.created_at),
        }
    }
}

impl Row for View {
    const COLUMNS: &'static [&'static str] =
        &["id", "username", "full name", "role", "status", "phone", "e-mail", "created at"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.id.to_string(),
            self.username.clone(),
            self.full_name.clone(),
            self.role.to_owned(),
            self.status.to_owned(),
            or_dash(self.phone_number.as_deref()),
            or_dash(self.email.as_deref()),
            self.created_at.clone(),
        ]
    }
}

impl Row for Introduced {
    const COLUMNS: &'static [&'static str] = &["id", "username", "full name", "role", "password"];

    fn cells(&self) -> Vec<String> {
        let user = &self.user;
        let role = user.role.to_owned();
        vec![user.id.to_string(), user.username.clone(), user.full_name.clone(), role, self.password.clone()]
    }
}
