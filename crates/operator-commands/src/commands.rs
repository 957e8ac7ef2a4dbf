//! The commands for a program without a terminal: the console. It gives the words of a command and shows the report.

use clap::FromArgMatches;
use database::Database;
use directory::{Identity, Operator, find_console_identity};
use secrecy::SecretString;
use store::SealingSettings;
use tokio::runtime::Handle;

use crate::{
    arguments::{self, Arguments, Command},
    carry_out,
    console::{self, identities::no_session_of},
    error::VendctlError,
    report::Report,
    rights,
    session::Session,
    settings::OperatorSettings,
};

/// An operator who is signed in: a connection with that person's own login.
pub struct Commands(Session);

/// Why a command was not carried out, in a sentence that says what to do.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(String);

/// The settings of an operator that the calling program sets. The others have the usual values of `vendctl`.
#[derive(Debug, Default)]
pub struct CommandSettings {
    /// The IANA name of the zone of moments without an offset.
    pub time_zone: Option<String>,
    /// The greatest amount of one act.
    pub amount_max: Option<String>,
    /// How often the message of one purchase may be sent again within a day.
    pub messages_per_day: Option<u16>,
    /// The servers' keys, for decisions that enter a token.
    pub sealing: Option<SealingSettings>,
    /// Where browsers reach the console.
    pub console_url: Option<String>,
}

impl CommandSettings {
    /// Checks the settings at start-up.
    ///
    /// # Errors
    /// Names what cannot be used.
    pub fn checked(&self) -> Result<(), Refusal> {
        let settings = self.for_operators();
        settings.zone().map_err(VendctlError::from)?;
        settings.amount_max().map_err(VendctlError::from)?;
        Ok(())
    }

    fn for_operators(&self) -> OperatorSettings {
        OperatorSettings {
            database_url: SecretString::default(),
            actor: None,
            time_zone: self.time_zone.clone(),
            amount_max: self.amount_max.clone(),
            messages_per_day: self.messages_per_day,
            tokens_per_day: None,
            console_url: self.console_url.clone(),
        }
    }
}

impl Commands {
    /// Signs in with the secret of a link. `console` is connected with the console's own login, which may only take the link.
    ///
    /// # Errors
    /// If the link was used, has expired or never was, or if the person is no operator any more.
    pub async fn sign_in(
        console: &Database,
        secret: &SecretString,
        settings: &CommandSettings,
        engine: Handle,
    ) -> Result<Self, Refusal> {
        let database = console::redeem(console, secret).await?;
        let session =
            Session::of(database, &settings.for_operators(), settings.sealing.as_ref(), engine).await?;
        Ok(Self(session))
    }

    /// Signs in with an identity for which an OpenID provider has vouched. `None` if no operator has added it. `console` is
    /// connected with the console's own login. Its server decides which other logins the console may be.
    ///
    /// # Errors
    /// If the server does not let the console be that login, or if the person is no operator any more.
    pub async fn identify(
        console: &Database,
        identity: Identity,
        settings: &CommandSettings,
        engine: Handle,
    ) -> Result<Option<Self>, Refusal> {
        let found = find_console_identity(console, identity).await.map_err(VendctlError::from)?;
        let Some(login) = found else { return Ok(None) };
        let database = console.settings().clone().used_without_password(&login);
        let session =
            Session::of(database, &settings.for_operators(), settings.sealing.as_ref(), engine).await;
        Ok(Some(Self(session.map_err(|error| no_session_of(login, error))?)))
    }

    /// Connects with a login of one's own, as a prompt does.
    ///
    /// # Errors
    /// If the database cannot be used, or if the login is no operator.
    pub async fn connect(
        database_url: &SecretString,
        settings: &CommandSettings,
        engine: Handle,
    ) -> Result<Self, Refusal> {
        let operator = OperatorSettings { database_url: database_url.clone(), ..settings.for_operators() };
        let session = Session::open(&operator, settings.sealing.as_ref(), None, engine).await?;
        Ok(Self(session))
    }

    /// The link of `console link`.
    ///
    /// # Errors
    /// If the login has no password, or if the database refuses.
    pub async fn console_link(&self) -> Result<String, Refusal> {
        Ok(console::link(&self.0).await?)
    }

    /// Who is signed in, as the database says.
    pub fn operator(&self) -> &Operator {
        &self.0.operator
    }

    /// Whether the roles of the operator allow a command, named as `wallet top-up`. The database decides when it is carried out.
    pub fn may(&self, command: &str) -> bool {
        rights::check(command, &self.0.operator).is_ok()
    }

    /// The IANA name of the zone in which reports show moments, and of moments without an offset.
    pub fn zone(&self) -> &'static str {
        self.0.zone().name()
    }

    /// Carries out one command, such as `["provider", "show", "--", "BPC"]`.
    ///
    /// # Errors
    /// What `vendctl` would print in place of a report.
    pub async fn run(&self, words: &[String]) -> Result<Report, Refusal> {
        let typed = std::iter::once("vendctl").chain(words.iter().map(String::as_str));
        let matches = arguments::command().try_get_matches_from(typed).map_err(|error| misread(&error))?;
        let arguments = Arguments::from_arg_matches(&matches).map_err(|error| misread(&error))?;
        let Command::Database(command) = &arguments.command else {
            return Err(Refusal("this command is for a terminal".to_owned()));
        };
        Ok(carry_out(&self.0, command, &matches).await?)
    }
}

/// The first paragraph of what the parser says: the rest is about command lines.
fn misread(error: &clap::Error) -> Refusal {
    let text = error.to_string();
    let paragraph = text.split("\n\n").next().unwrap_or_default();
    let sentence = paragraph.strip_prefix("error: ").unwrap_or(paragraph);
    Refusal(sentence.split_whitespace().collect::<Vec<_>>().join(" "))
}

impl From<VendctlError> for Refusal {
    fn from(error: VendctlError) -> Self {
        Self(error.line())
    }
}
