//! The shape of the command line: which nouns there are, and what every command takes.

use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand};
use clap_complete::Shell;

use crate::{
    account, allow_list, audit, client, default_provider, incidents, offer, organisation, outbox, parse,
    product, provider, purchases, refusals, role, secret, user, wallet,
};

const EXAMPLES: &str = "\
An organisation in five commands:
  vendctl organisation create KGALE --name \"Kgale Stores\" --environment staging --reason \"contract 17\"
  vendctl account open -o KGALE --name Wallet --currency BWP --reason \"contract 17\"
  vendctl offer set -o KGALE electricity BPC --currency BWP --fee 1.50 --commission-rate 0.01 --reason \"contract 17\"
  vendctl client create -o KGALE --name tills --reason \"contract 17\"
  vendctl user create till -o KGALE --full-name \"Till One\" --role integrator --generate-password --reason \"contract 17\"

Settings: `database_url` and `actor` under [operator] of the file given by --settings, or
VENDGATE__OPERATOR__DATABASE_URL and VENDGATE__OPERATOR__ACTOR in the environment, which wins.

Exit codes: 0 done, 1 refused or failed (one line on stderr says what to do), 2 no such command or argument.";

/// The operator's tool of Vendgate.
///
/// Lets organisations in, keeps their wallets and the catalogue, looks after purchases, and shows who did what. Every act takes --reason and
/// is recorded in the audit log, with who did it, in the transaction that does it.
#[derive(Debug, Parser)]
#[command(name = "vendctl", version, after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// A TOML file with an [operator] section
    #[arg(long, global = true, value_name = "FILE", help_heading = "Everywhere")]
    pub(crate) settings: Option<PathBuf>,
    /// Print JSON with stable field names instead of a table
    #[arg(long, global = true, help_heading = "Everywhere")]
    pub(crate) json: bool,
    /// In whose name this is done [default: the settings' actor, else this machine's user]
    #[arg(long, global = true, value_name = "WHO", value_parser = parse::actor, help_heading = "Everywhere")]
    pub(crate) actor: Option<String>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Why something is done: every act asks.
#[derive(Debug, Args)]
pub(crate) struct Why {
    /// Why, in a sentence: it is kept in the audit log
    #[arg(long, value_name = "TEXT", value_parser = parse::sentence)]
    pub(crate) reason: String,
}

/// Whose something is.
#[derive(Debug, Args)]
pub(crate) struct Whose {
    /// The organisation's code
    #[arg(short, long, value_name = "CODE", value_parser = parse::organisation_code)]
    pub(crate) organisation: String,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    #[command(flatten)]
    Errand(Errand),
    /// Print a script that completes these commands in a shell
    #[command(after_help = "Example:\n  vendctl completions bash > /etc/bash_completion.d/vendctl")]
    Completions {
        /// For which shell
        shell: Shell,
    },
}

/// What takes the database.
#[derive(Debug, Subcommand)]
pub(crate) enum Errand {
    /// Those whom the service is sold to
    #[command(visible_alias = "org")]
    Organisation {
        #[command(subcommand)]
        verb: organisation::Verb,
    },
    /// The programs that an organisation calls with
    Client {
        #[command(subcommand)]
        verb: client::Verb,
    },
    /// The secrets of a client
    Secret {
        #[command(subcommand)]
        verb: secret::Verb,
    },
    /// The users in whose name an organisation's clients act
    User {
        #[command(subcommand)]
        verb: user::Verb,
    },
    /// What users may do
    Role {
        #[command(subcommand)]
        verb: role::Verb,
    },
    /// The wallets of an organisation: opening, settings, standing
    Account {
        #[command(subcommand)]
        verb: account::Verb,
    },
    /// The money in a wallet
    Wallet {
        #[command(subcommand)]
        verb: wallet::Verb,
    },
    /// What is sold, and what its subscriber identifiers look like
    Product {
        #[command(subcommand)]
        verb: product::Verb,
    },
    /// Who vends, and what each connection is declared to do
    Provider {
        #[command(subcommand)]
        verb: provider::Verb,
    },
    /// What an organisation can buy, from whom, on which terms
    Offer {
        #[command(subcommand)]
        verb: offer::Verb,
    },
    /// Whom an organisation buys from when it does not say
    DefaultProvider {
        #[command(subcommand)]
        verb: default_provider::Verb,
    },
    /// For whom an organisation in staging may buy
    AllowList {
        #[command(subcommand)]
        verb: allow_list::Verb,
    },
    /// What was bought: looking for it, the story of one, and a person's decision where no provider can tell
    #[command(visible_alias = "purchase")]
    Purchases {
        #[command(subcommand)]
        verb: purchases::Verb,
    },
    /// Confirms that were refused before a purchase was made
    #[command(visible_alias = "refusal")]
    Refusals {
        #[command(subcommand)]
        verb: refusals::Verb,
    },
    /// Vends that came to light when nobody paid for them any more
    #[command(visible_alias = "incident")]
    Incidents {
        #[command(subcommand)]
        verb: incidents::Verb,
    },
    /// The messages that are owed to people
    Outbox {
        #[command(subcommand)]
        verb: outbox::Verb,
    },
    /// Who did what, and why
    Audit {
        #[command(subcommand)]
        verb: audit::Verb,
    },
}

/// The script that completes commands in `shell`.
pub(crate) fn completions(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "vendctl", &mut script);
    String::from_utf8(script).expect("the names of commands and arguments are text")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every command that does something, with the words that lead to it.
    fn leaves(command: &clap::Command, path: &str, found: &mut Vec<(String, clap::Command)>) {
        for child in command.get_subcommands().filter(|child| child.get_name() != "help") {
            let path = format!("{path} {}", child.get_name());
            if child.has_subcommands() {
                leaves(child, &path, found);
            } else {
                found.push((path, child.clone()));
            }
        }
    }

    fn all() -> Vec<(String, clap::Command)> {
        let mut found = Vec::new();
        leaves(&Arguments::command(), "vendctl", &mut found);
        found
    }

    #[test]
    fn the_commands_are_well_formed() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_command_says_what_it_does_shows_an_example_and_explains_every_argument() {
        for (path, command) in all() {
            assert!(command.get_about().is_some(), "{path}");
            let example = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(example.contains(&path), "{path}: its help shows no example");
            for argument in command.get_arguments() {
                assert!(argument.get_help().is_some(), "{path}: {}", argument.get_id());
            }
        }
    }

    #[test]
    fn every_act_asks_for_a_reason_and_no_look_does() {
        let looks = ["list", "show", "statement", "verify", "head", "completions"];
        for (path, command) in all() {
            let reason = command.get_arguments().find(|argument| argument.get_id() == "reason");
            let is_look = looks.iter().any(|look| path.split(' ').any(|word| word == *look));
            assert_eq!(reason.is_some_and(clap::Arg::is_required_set), !is_look, "{path}");
        }
    }

    #[test]
    fn no_secret_no_password_and_no_token_is_an_argument() {
        for (path, command) in all() {
            for argument in command.get_arguments().filter(|argument| argument.get_action().takes_values()) {
                let name = argument.get_id().as_str();
                let is_secret = name.contains("password") || ["client_secret", "token"].contains(&name);
                assert!(!is_secret, "{path}: {name}");
            }
        }
    }

    /// The words of a command line, as a shell would part them.
    fn words(line: &str) -> Vec<String> {
        let mut words = vec![String::new()];
        let mut quote = None;
        for character in line.chars() {
            match (quote, character) {
                (Some(open), close) if open == close => quote = None,
                (None, '"' | '\'') => quote = Some(character),
                (None, ' ') => words.push(String::new()),
                _ => words.last_mut().unwrap().push(character),
            }
        }
        words
    }

    #[test]
    fn every_command_of_the_operators_page_is_one() {
        let page = include_str!("../../../docs/operations/VENDCTL.md");
        let commands: Vec<&str> = page.lines().filter(|line| line.starts_with("vendctl ")).collect();
        for command in &commands {
            if let Err(error) = Arguments::try_parse_from(words(command)) {
                panic!("{command}: {error}");
            }
        }
        for noun in Arguments::command().get_subcommands().filter(|noun| noun.has_subcommands()) {
            let is_shown = commands.iter().any(|command| command.split(' ').nth(1) == Some(noun.get_name()));
            assert!(is_shown || ["help", "role"].contains(&noun.get_name()), "{}", noun.get_name());
        }
    }

    #[test]
    fn a_shell_completes_nouns_and_verbs() {
        let script = completions(Shell::Bash);
        for word in ["vendctl", "organisation", "top-up", "--reason"] {
            assert!(script.contains(word), "{word}");
        }
    }
}
