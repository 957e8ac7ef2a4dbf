//! What keeps an act that cannot simply be taken back from being done by mistake: a rehearsal, and a question at a terminal.

use std::{
    io::{self, BufRead, IsTerminal, Write},
    mem,
};

use clap::{Arg, ArgAction, Args, Command};

use crate::error::VendctlError;

#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Care {
    /// Check everything and show what would be done, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask before it is done; without a terminal nothing is asked anyway
    #[arg(long)]
    yes: bool,
}

impl Care {
    /// Whether there is a person who is asked.
    pub(crate) fn asks(self) -> bool {
        !self.yes && !self.dry_run && io::stdin().is_terminal()
    }

    /// Asks the person at a terminal whether this is to be done. A script is not asked, and a rehearsal does nothing.
    pub(crate) fn ask(self, what: &str) -> Result<(), VendctlError> {
        if !self.asks() {
            return Ok(());
        }
        let agreed = asks(what, io::stdin().lock(), io::stderr().lock()).map_err(VendctlError::NoAnswer)?;
        if agreed { Ok(()) } else { Err(VendctlError::NotAgreed) }
    }
}

/// Gives `--yes` to every command that changes something, also to those that never ask: a script need not know which do.
pub(crate) fn taken_by_every_change(mut command: Command) -> Command {
    for child in command.get_subcommands_mut() {
        *child = taken_by_every_change(mem::take(child));
    }
    let has = |name: &str| command.get_arguments().any(|argument| argument.get_id() == name);
    if !has("reason") || has("yes") {
        return command;
    }
    let help = "Every command that changes something takes it; this one never asks";
    command.arg(Arg::new("yes").long("yes").action(ArgAction::SetTrue).help(help))
}

/// Whether the answer is yes. The end of the input is no.
fn asks(what: &str, mut answers: impl BufRead, mut to: impl Write) -> io::Result<bool> {
    write!(to, "{what}\nType yes to do it: ")?;
    to.flush()?;
    let mut answer = String::new();
    answers.read_line(&mut answer)?;
    Ok(answer.trim() == "yes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_word_is_a_yes() {
        for (answer, agreed) in
            [("yes\n", true), (" yes \n", true), ("y\n", false), ("\n", false), ("", false)]
        {
            let mut asked = Vec::new();
            assert_eq!(
                asks("BWP 5.00 is taken.", answer.as_bytes(), &mut asked).unwrap(),
                agreed,
                "{answer:?}"
            );
            assert_eq!(asked, b"BWP 5.00 is taken.\nType yes to do it: ");
        }
    }
}
