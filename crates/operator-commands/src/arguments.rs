//! The nouns of the command line, and the arguments that all commands share.

use std::path::{Path, PathBuf};

use clap::{CommandFactory, Parser, Subcommand};
use clap_complete::Shell;
use statement_fetch::FetchStatement;

pub(crate) use operator_reports::reason::{Whose, Why};

use crate::{
    account, allow_list, approvals, archive, audit, care, client, console, default_provider, discrepancies,
    error::VendctlError, incidents, offer, operators, organisation, outbox, parse, payout, privacy, product,
    provider, purchases, reconcile, reconciliations, recover, refusals, role, sales, secret, user, wallet,
    webhooks,
};

const EXAMPLES: &str = "\
An organisation in five commands:
  vendctl organisation create KGALE --name \"Kgale Stores\" --environment staging --reason \"contract 17\"
  vendctl account open -o KGALE --name Wallet --currency BWP --reason \"contract 17\"
  vendctl offer set -o KGALE electricity BPC --currency BWP --fee 1.50 --commission-rate 0.01 --reason \"contract 17\"
  vendctl client create -o KGALE --name tills --reason \"contract 17\"
  vendctl user create till -o KGALE --full-name \"Till One\" --role integrator --generate-password --reason \"contract 17\"

Settings: `database_url` under [operator] of the file given by --settings, or VENDGATE__OPERATOR__DATABASE_URL in the
environment, which wins. Its login is who you are, and its roles are what you may do.

Exit codes: 0 done, 1 refused or failed (one line on stderr says what to do), 2 no such command or argument,
3 nothing was done yet, because another person must approve it, 4 a statement differs from the books, or is not final yet.";

/// The operator's tool of Vendgate.
///
/// Manages organisations, wallets, the catalogue and purchases, and shows the audit log. Every command that changes
/// something takes --reason. The change and its line in the audit log, with your database login, are one transaction.
#[derive(Debug, Parser)]
#[command(name = "vendctl", version, after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// A TOML file with an [operator] section
    #[arg(long, global = true, value_name = "FILE", help_heading = "Everywhere")]
    pub(crate) settings: Option<PathBuf>,
    /// Print JSON with stable field names instead of a table
    #[arg(long, global = true, help_heading = "Everywhere")]
    pub(crate) json: bool,
    /// Another person for whom you act, as a note in the audit log. Who you are is your database login
    #[arg(
        long,
        alias = "actor",
        global = true,
        value_name = "NAME",
        value_parser = parse::actor,
        help_heading = "Everywhere"
    )]
    pub(crate) on_behalf_of: Option<String>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    #[command(flatten)]
    Database(DatabaseCommand),
    /// Fetch a provider's list of our orders into a file for `reconcile`. Needs no database
    #[command(
        after_help = "The settings have the provider's section of the servers', such as [providers.airtime.reloadly]. With these \
                      credentials one can buy. The zone of --date is `time_zone` of [operator].\n\nExample:\n  \
                      vendctl fetch-statement AIRTIME airtime.csv --date yesterday\n  \
                      vendctl reconcile AIRTIME airtime.csv --date yesterday --reason \"daily\""
    )]
    FetchStatement(FetchStatement),
    /// Print a completion script for a shell
    #[command(after_help = "Example:\n  vendctl completions bash > /etc/bash_completion.d/vendctl")]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Write a manual page for each command
    #[command(after_help = "Example:\n  vendctl man-pages /usr/local/share/man/man1")]
    ManPages {
        /// A directory that exists. A page of an earlier version is replaced
        #[arg(value_name = "DIRECTORY")]
        directory: PathBuf,
    },
}

/// The commands that need the database.
#[derive(Debug, Subcommand)]
pub(crate) enum DatabaseCommand {
    /// The organisations that use the service
    #[command(visible_alias = "org")]
    Organisation {
        #[command(subcommand)]
        verb: organisation::Verb,
    },
    /// The OAuth clients of an organisation
    Client {
        #[command(subcommand)]
        verb: client::Verb,
    },
    /// The secrets of a client
    Secret {
        #[command(subcommand)]
        verb: secret::Verb,
    },
    /// The users of an organisation, who log in through its clients
    User {
        #[command(subcommand)]
        verb: user::Verb,
    },
    /// The roles of users, and their permissions
    Role {
        #[command(subcommand)]
        verb: role::Verb,
    },
    /// The wallets of an organisation: opening, settings, status
    Account {
        #[command(subcommand)]
        verb: account::Verb,
    },
    /// Payments into a wallet, corrections and statements
    Wallet {
        #[command(subcommand)]
        verb: wallet::Verb,
    },
    /// The fees that were earned, and taken out
    Fees {
        #[command(subcommand)]
        verb: payout::FeesVerb,
    },
    /// The commission that organisations have earned, and is paid out
    Commission {
        #[command(subcommand)]
        verb: payout::CommissionVerb,
    },
    /// The products, and the format of their subscriber identifiers
    Product {
        #[command(subcommand)]
        verb: product::Verb,
    },
    /// The providers, and the declarations about their connections
    Provider {
        #[command(subcommand)]
        verb: provider::Verb,
    },
    /// What an organisation can buy, from which provider, on which terms
    Offer {
        #[command(subcommand)]
        verb: offer::Verb,
    },
    /// The provider of a request that names none
    DefaultProvider {
        #[command(subcommand)]
        verb: default_provider::Verb,
    },
    /// The subscribers that an organisation in staging may buy for
    AllowList {
        #[command(subcommand)]
        verb: allow_list::Verb,
    },
    /// Purchases: find them, show the history of one, and decide one that the provider cannot settle
    #[command(visible_alias = "purchase")]
    Purchases {
        #[command(subcommand)]
        verb: purchases::Verb,
    },
    /// Confirms that were refused before a purchase was created
    #[command(visible_alias = "refusal")]
    Refusals {
        #[command(subcommand)]
        verb: refusals::Verb,
    },
    /// What was bought, added up for the operator's books
    Report {
        #[command(subcommand)]
        verb: sales::Verb,
    },
    /// Vends that were found after their purchase had ended
    #[command(visible_alias = "incident")]
    Incidents {
        #[command(subcommand)]
        verb: incidents::Verb,
    },
    /// Hold a provider's statement against the books: what is missing on either side, and what differs
    #[command(
        after_help = "The statement is a CSV file with these columns, in any order:\n  reference    our reference of the order\n  \
                      transaction  the provider's id of the vend\n  time         RFC 3339\n  product      ELECTRICITY, AIRTIME or \
                      WATER\n  subscriber\n  amount       such as 100.00, as the provider bills it\n  currency\n  token        may \
                      be absent or empty; several as `Description: Token|Description: Token`\n  token-sha256 instead of token: \
                      SHA-256 of the digits of the last token, in hexadecimal\n\nOther names of columns are declared by --column \
                      and --always. No money moves, and running a file again enters nothing twice.\n\nExamples:\n  vendctl \
                      reconcile BPC bpc.csv --date 2026-11-23 --reason \"daily\"\n  vendctl reconcile BPC bpc.csv --date \
                      2026-11-23 --delimiter ';' --column reference=MsgID --column time=Date --time-format '%d/%m/%Y %H:%M:%S' \
                      --always currency=BWP --dry-run --reason \"a new form\""
    )]
    Reconcile(Box<reconcile::Reconcile>),
    /// The statements that were held against the books, and what each run found
    #[command(visible_alias = "reconciliation")]
    Reconciliations {
        #[command(subcommand)]
        verb: reconciliations::Verb,
    },
    /// What statements of providers and the books do not agree about
    #[command(visible_alias = "discrepancy")]
    Discrepancies {
        #[command(subcommand)]
        verb: discrepancies::Verb,
    },
    /// The vends that only a provider has, for example after a restore to a moment
    Recover {
        #[command(subcommand)]
        verb: recover::Verb,
    },
    /// The messages to customers that are not sent yet
    Outbox {
        #[command(subcommand)]
        verb: outbox::Verb,
    },
    /// Where integrators want their events sent, and whether they arrive
    #[command(visible_alias = "webhook")]
    Webhooks {
        #[command(subcommand)]
        verb: webhooks::Verb,
    },
    /// What is stored about one person: export it, or erase it
    Privacy {
        #[command(subcommand)]
        verb: privacy::Verb,
    },
    /// The history of purchases that ended long ago, in files
    Archive {
        #[command(subcommand)]
        verb: archive::Verb,
    },
    /// Acts that need two people: requests, approvals, and the amounts above which approval is needed
    #[command(visible_alias = "approval")]
    Approvals {
        #[command(subcommand)]
        verb: approvals::Verb,
    },
    /// The logins that may act as operators
    #[command(visible_alias = "operator")]
    Operators {
        #[command(subcommand)]
        verb: operators::Verb,
    },
    /// The console in a browser
    Console {
        #[command(subcommand)]
        verb: console::Verb,
    },
    /// The audit log: who changed what, and why
    Audit {
        #[command(subcommand)]
        verb: audit::Verb,
    },
}

/// All commands, as they are typed.
pub(crate) fn command() -> clap::Command {
    care::given_to_every_change(Arguments::command())
}

/// The script that completes commands in `shell`.
pub(crate) fn completions(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command(), "vendctl", &mut script);
    String::from_utf8(script).expect("the names of commands and arguments are UTF-8")
}

/// Writes a manual page for each command. Returns the line that says where they are.
pub(crate) fn write_man_pages(directory: &Path) -> Result<String, VendctlError> {
    let shown = directory.display().to_string();
    match clap_mangen::generate_to(command(), directory) {
        Ok(()) => Ok(format!("the manual pages are in {shown}; the first is vendctl.1\n")),
        Err(source) => Err(VendctlError::NoManPages { directory: shown, source }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every command without subcommands, with its full name.
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
        leaves(&command(), "vendctl", &mut found);
        found
    }

    #[test]
    fn the_commands_are_well_formed() {
        command().debug_assert();
    }

    #[test]
    fn every_command_says_what_it_does_shows_an_example_and_explains_every_argument() {
        for (path, command) in all() {
            assert!(command.get_about().is_some(), "{path}");
            let example = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(example.contains(&path), "{path}: its help has no example");
            for argument in command.get_arguments() {
                assert!(argument.get_help().is_some(), "{path}: {}", argument.get_id());
            }
        }
    }

    #[test]
    fn every_change_requires_a_reason_and_no_query_does() {
        let queries = [
            "list",
            "report",
            "search",
            "show",
            "statement",
            "verify",
            "head",
            "thresholds",
            "completions",
            "man-pages",
            "fetch-statement",
            // It only signs the person in.
            "link",
        ];
        for (path, command) in all() {
            let reason = command.get_arguments().find(|argument| argument.get_id() == "reason");
            let is_query = queries.iter().any(|query| path.split(' ').any(|word| word == *query));
            assert_eq!(reason.is_some_and(clap::Arg::is_required_set), !is_query, "{path}");
            let takes = |long| command.get_arguments().any(|argument| argument.get_long() == Some(long));
            assert_eq!(takes("yes"), !is_query, "{path}: a script gives --yes to every change");
            let only_reads_or_writes_a_file =
                ["purchases token", "privacy export", "archive write", "archive remove"];
            let is_rehearsed =
                !is_query && !only_reads_or_writes_a_file.iter().any(|name| path.ends_with(name));
            assert_eq!(takes("dry-run"), is_rehearsed, "{path}");
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

    /// The words of a command line, split as a shell does it.
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
    fn every_command_of_the_operators_page_is_valid() {
        let page = include_str!("../../../docs/operations/VENDCTL.md");
        let commands: Vec<&str> = page.lines().filter(|line| line.starts_with("vendctl ")).collect();
        for command in &commands {
            if let Err(error) = self::command().try_get_matches_from(words(command)) {
                panic!("{command}: {error}");
            }
        }
        for noun in self::command().get_subcommands().filter(|noun| noun.has_subcommands()) {
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
