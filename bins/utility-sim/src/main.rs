//! `utility-sim-server [settings.toml]`

use std::{error::Error, path::PathBuf, sync::Arc};

use clock::SystemClock;
use utility_sim_server::{Settings, run};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args_os().nth(1).map(PathBuf::from);
    let settings: Settings = boot::load(file.as_deref())?;
    boot::telemetry::start(&settings.telemetry)?;
    run(&settings, Arc::new(SystemClock)).await?;
    Ok(())
}
