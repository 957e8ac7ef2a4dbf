//! What keeps an act that cannot simply be taken back from being done by mistake: a rehearsal, and a question at a terminal.

use std::{
    io::{self, BufRead, IsTerminal, Write},
    mem,
};

use clap::{Arg, ArgAction, ArgMatches, Args, Command};

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

    /// Whether what would happen is shown before it happens: in a rehearsal, or to the person who is asked.
    pub(crate) fn foretells(self) -> bool {
        self.dry_run || self.asks()
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

/// The id of a `--dry-run` that [`given_to_every_change`] gives.
const REHEARSED: &str = "rehearsed";
/// They do more than change the database: they show, or write or read a file in many transactions.
const NEVER_REHEARSED: [&str; 4] = ["purchases token", "privacy export", "archive write", "archive remove"];

/// Gives `--yes` and `--dry-run` to every command that changes something and has none of its own. One that never asks takes `--yes`
/// because a script need not know which do.
pub(crate) fn given_to_every_change(command: Command) -> Command {
    given_below("", command)
}

fn given_below(noun: &str, mut command: Command) -> Command {
    let verb = command.get_name().to_owned();
    for child in command.get_subcommands_mut() {
        *child = given_below(&verb, mem::take(child));
    }
    let name = format!("{noun} {verb}");
    let has = |name: &str| command.get_arguments().any(|argument| argument.get_id() == name);
    if !has("reason") {
        return command;
    }
    let (asks, has_rehearsal) = (has("yes"), has("dry_run") || NEVER_REHEARSED.contains(&name.as_str()));
    let flag = |id, long, help| Arg::new(id).long(long).action(ArgAction::SetTrue).help(help);
    let yes = flag("yes", "yes", "Every command that changes something takes it; this one never asks");
    let rehearsed =
        flag(REHEARSED, "dry-run", "Check everything and show what would be there, and keep nothing of it");
    command.args((!has_rehearsal).then_some(rehearsed)).args((!asks).then_some(yes))
}

/// How a command that was typed is rehearsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rehearsal {
    No,
    /// The command itself says what it would do.
    ByCommand,
    /// It is carried out, and nothing of it is kept.
    Undone,
}

impl Rehearsal {
    /// That of a command, by the arguments of its verb.
    pub(crate) fn of(verb: &ArgMatches) -> Self {
        let is_given = |id| matches!(verb.try_get_one::<bool>(id), Ok(Some(true)));
        if is_given(REHEARSED) {
            Self::Undone
        } else if is_given("dry_run") {
            Self::ByCommand
        } else {
            Self::No
        }
    }
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
