//! How the tour reads on a screen.

use std::io::Write;

use super::{Surprise, Till, grouped, named, utility::Verdict};
use crate::{Facts, seed::ELECTRICITY};

/// Chapters with short lines.
pub(super) struct Story<'a> {
    out: &'a mut (dyn Write + Send),
    chapters: u32,
}

impl<'a> Story<'a> {
    pub(super) fn new(out: &'a mut (dyn Write + Send)) -> Self {
        Self { out, chapters: 0 }
    }

    pub(super) fn opening(&mut self, facts: &Facts) -> Result<(), Surprise> {
        writeln!(self.out)?;
        writeln!(self.out, "  API        {}/public/v1", facts.base_url)?;
        writeln!(self.out, "  Simulator  {}", facts.simulator_url)?;
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
        self.line(&format!("typed      {} ({description})", grouped(token)))
    }

    /// What an electricity meter said, which must be the refusal expected, or none.
    pub(super) fn verdict(&mut self, verdict: &Verdict, expected: Option<&str>) -> Result<(), Surprise> {
        self.verdict_in("kWh", verdict, expected)
    }

    /// The same of a meter that counts in `unit`.
    pub(super) fn verdict_in(
        &mut self,
        unit: &str,
        verdict: &Verdict,
        expected: Option<&str>,
    ) -> Result<(), Surprise> {
        let told = |reason: Option<&str>| reason.unwrap_or("no refusal").to_owned();
        let found = verdict.reason.as_deref();
        Surprise::unless_equal("the meter's refusal", &told(expected), &told(found))?;
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

    pub(super) fn closing(&mut self, facts: &Facts, till: &Till) -> Result<(), Surprise> {
        self.chapter("Your turn: buy some for the meter with 13 digits")?;
        let meter = named(&facts.subscribers.electricity, "active_13_digit")?;
        let order = till.order(&ELECTRICITY, meter, "25.00", "mine-1");
        writeln!(
            self.out,
            "   curl -s {}/public/v1/purchases/confirm -H 'Authorization: Bearer {}' \\\n     -H 'Content-Type: application/json' -d '{order}'",
            facts.base_url, till.access_token
        )?;
        Ok(())
    }
}
