//! The operators' console of a sandbox, and a link that signs its operator in.

use operator_commands::{CommandSettings, Commands, Refusal};

use super::{StartError, free_port, local_database::TestEnv, write_settings};
use crate::{Listener, Options, Process, Program, Sandbox, launch::Launch, settings::console_toml};

/// Starts the console, if the options include one.
pub(super) fn start_console(
    program: &Program,
    options: &Options,
    env: &TestEnv,
    sealing_key: &str,
) -> Result<Option<Process>, StartError> {
    if !options.has_console {
        return Ok(None);
    }
    let settings = options.directory.join("console.toml");
    // The port must not change in a restart, because links begin with it.
    write_settings(&settings, &console_toml(&env.console_url, free_port(0)?, sealing_key))?;
    let console = Process::start(Launch {
        name: "console",
        program: program.clone(),
        settings,
        environment: Vec::new(),
        log: options.directory.join("console.log"),
        listeners: &[Listener::Http],
        forgets: Some("who was signed in needs another link"),
    })?;
    Ok(Some(console))
}

impl Sandbox {
    /// A link that signs the sandbox's operator in to the console, once and within five minutes. `None` without a console.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn console_link(&self) -> Result<Option<String>, Refusal> {
        let Some(console_url) = &self.info.console_url else { return Ok(None) };
        let settings =
            CommandSettings { console_url: Some(console_url.clone()), ..CommandSettings::default() };
        let engine = self.engine.handle().clone();
        let operator = Commands::connect(&self.info.operator_url, &settings, engine).await?;
        operator.console_link().await.map(Some)
    }
}
