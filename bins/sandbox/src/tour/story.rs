//! Prints the tour on a screen.

use std::io::Write;

use super::{Surprise, Till, grouped, named, utility::Verdict};
use crate::{SandboxInfo, seed::ELECTRICITY};

/// Numbered chapters with short lines.
pub(super) struct Story<'a> {
    out: &'a mut (dyn Write + Send),
    chapters: u32,
}

impl<'a> Story<'a> {
    pub(super) fn new(out: &'a mut (dyn Write + Send)) -> Self {
        Self { out, chapters: 0 }
    }

    pub(super) fn opening(&mut self, info: &SandboxInfo) -> Result<(), Surprise> {
        writeln!(self.out)?;
        writeln!(self.out, "  API        {}/public/v1", info.base_url)?;
        writeln!(self.out, "  Simulator  {}", info.simulator_url)?;
        writeln!(self.out, "  Controls   {}", info.control_url)?;
        Ok(())
    }

    pub(super) fn chapter(&mut self, title: &str) -> Result<(), Surprise> {
        self.chapters += 1;
        writeln!(self.out, "\n{}. {title}", self.chapters)?;
        Ok(())
    }

    pub(super) fn line(&mut self, text: &str) -> Result<(), Surprise> {
        writeln!(self.out, "   {text}")?;
        Ok(())
    }

    pub(super) fn typed(&mut self, description: &str, token: &str) -> Result<(), Surprise> {
        self.line(&format!("entered    {} ({description})", grouped(token)))
    }

    /// Prints the result of an electricity meter, which must be the expected refusal, or none.
    pub(super) fn verdict(&mut self, verdict: &Verdict, expected: Option<&str>) -> Result<(), Surprise> {
        self.verdict_in("kWh", verdict, expected)
    }

    /// The same for a meter that counts in `unit`.
    pub(super) fn verdict_in(
        &mut self,
        unit: &str,
        verdict: &Verdict,
        expected: Option<&str>,
    ) -> Result<(), Surprise> {
        let text = |reason: Option<&str>| reason.unwrap_or("no refusal").to_owned();
        let found = verdict.reason.as_deref();
        Surprise::unless_equal("the meter's refusal", &text(expected), &text(found))?;
        match (&verdict.kind, found) {
            (_, Some(reason)) => self.line(&format!("meter      refuses it: {}", reason.replace('_', " "))),
            (Some(kind), None) => {
                let total = &verdict.units_total;
                self.line(&format!(
                    "meter      accepts it: {}, {total} {unit} in all",
                    kind.replace('_', " ")
                ))
            }
            (None, None) => Err(Surprise::different("the meter's verdict", &"a verdict", &"none")),
        }
    }

    pub(super) fn closing(&mut self, info: &SandboxInfo, till: &Till) -> Result<(), Surprise> {
        self.chapter("Your turn: buy some for the meter with 13 digits")?;
        let meter = named(&info.subscribers.electricity, "active_13_digit")?;
        let order = till.order(&ELECTRICITY, meter, "25.00", "mine-1");
        writeln!(
            self.out,
            "   curl -s {}/public/v1/purchases/confirm -H 'Authorization: Bearer {}' \\\n     -H 'Content-Type: application/json' -d '{order}'",
            info.base_url, till.access_token
        )?;
        Ok(())
    }
}
