//! `vendctl user`: the users of an organisation, who log in through its clients.

mod password;

use clap::Subcommand;
use identity::{Party, Role, Status, UserDetails, UserRecord};
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;

use crate::{
    arguments::{Whose, Why},
    error::VendctlError,
    parse,
    report::{Report, Row, instant, or_dash},
    session::Session,
    words,
};

use password::PasswordFrom;

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Create a user
    #[command(
        after_help = "Examples:\n  vendctl user create till -o KGALE --full-name \"Till One\" --role integrator \
                      --generate-password --reason \"contract 17\"\n  vendctl user create till -o KGALE \
                      --full-name \"Till One\" --role viewer --password-stdin --reason \"contract 17\" < password.txt"
    )]
    Create {
        /// The name that it logs in with
        #[arg(value_parser = parse::name)]
        username: String,
        #[command(flatten)]
        whose: Whose,
        /// Its full name
        #[arg(long, value_parser = parse::name)]
        full_name: String,
        /// Its role: see `vendctl role list`
        #[arg(long, value_parser = words::role())]
        role: Role,
        /// The phone number for its receipts: E.164 digits without the plus
        #[arg(long, value_name = "DIGITS", value_parser = parse::phone_number)]
        phone: Option<String>,
        /// The e-mail address for its receipts
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
        /// The name that it logs in with
        username: String,
        /// Its role: see `vendctl role list`
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
        /// The name that it logs in with
        username: String,
        #[command(flatten)]
        whose: Whose,
        #[command(flatten)]
        password: PasswordFrom,
        #[command(flatten)]
        why: Why,
    },
    /// Suspend a user: it cannot log in, and its sessions are refused
    #[command(after_help = "Example:\n  vendctl user suspend till -o KGALE --reason \"left the company\"")]
    Suspend {
        /// The name that it logs in with
        username: String,
        #[command(flatten)]
        whose: Whose,
        #[command(flatten)]
        why: Why,
    },
    /// Lift the suspension of a user
    #[command(after_help = "Example:\n  vendctl user readmit till -o KGALE --reason \"came back\"")]
    Readmit {
        /// The name that it logs in with
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

/// A user with a generated password, which is shown once. Not `Debug`: it holds a secret.
#[derive(Serialize)]
struct WithPassword {
    #[serde(flatten)]
    user: View,
    password: String,
}

const NEVER_AGAIN: &str = "Hand the password over now: it is never shown again. Replace a lost password with `vendctl user set-password`.";

pub(crate) async fn run(session: &Session, verb: &Verb) -> Result<Report, VendctlError> {
    match verb {
        Verb::Create { username, whose, full_name, role, phone, email, password, why } => {
            let chosen = password.choose(session)?;
            let details = UserDetails {
                username: username.clone(),
                password: chosen.secret.clone(),
                full_name: full_name.clone(),
                phone_number: phone.clone(),
                email: email.clone(),
                role: *role,
            };
            session.onboarding.create_user(&whose.organisation, details, session.act(why)).await?;
            show(session, whose, username, chosen.shown()).await
        }
        Verb::List { whose } => {
            let users = session.onboarding.users(&whose.organisation).await?;
            Ok(Report::list(&users.into_iter().map(View::from).collect::<Vec<_>>()))
        }
        Verb::SetRole { username, role, whose, why } => {
            let user = find(session, whose, username).await?;
            session.onboarding.set_role(user.id, *role, session.act(why)).await?;
            show(session, whose, username, None).await
        }
        Verb::SetPassword { username, whose, password, why } => {
            let user = find(session, whose, username).await?;
            let chosen = password.choose(session)?;
            session.onboarding.replace_password(user.id, chosen.secret.clone(), session.act(why)).await?;
            show(session, whose, username, chosen.shown()).await
        }
        Verb::Suspend { username, whose, why } => {
            set_status(session, whose, username, Status::Suspended, why).await
        }
        Verb::Readmit { username, whose, why } => {
            set_status(session, whose, username, Status::Active, why).await
        }
    }
}

async fn set_status(
    session: &Session,
    whose: &Whose,
    username: &str,
    status: Status,
    why: &Why,
) -> Result<Report, VendctlError> {
    let user = find(session, whose, username).await?;
    session.onboarding.set_status(Party::User(user.id), status, session.act(why)).await?;
    show(session, whose, username, None).await
}

async fn find(session: &Session, whose: &Whose, username: &str) -> Result<UserRecord, VendctlError> {
    Ok(session.onboarding.user(&whose.organisation, username).await?)
}

async fn show(
    session: &Session,
    whose: &Whose,
    username: &str,
    password: Option<&SecretString>,
) -> Result<Report, VendctlError> {
    let user = View::from(find(session, whose, username).await?);
    let Some(password) = password else { return Ok(Report::one(&user)) };
    let password = session.shown_once(password.expose_secret());
    Ok(session.handing_over(Report::one(&WithPassword { user, password }), NEVER_AGAIN))
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
    const MOMENTS: &'static [&'static str] = &["created at"];

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

impl Row for WithPassword {
    const COLUMNS: &'static [&'static str] = &["id", "username", "full name", "role", "password"];

    fn cells(&self) -> Vec<String> {
        let user = &self.user;
        let role = user.role.to_owned();
        vec![user.id.to_string(), user.username.clone(), user.full_name.clone(), role, self.password.clone()]
    }
}
