//! Which role a command needs, by the committed table. The database refuses; this only says it in a sentence.

use database::DatabaseError;
use directory::{Operator, OperatorRole};

use crate::error::VendctlError;

/// `docs/commands.table`. A test tries every command as each role.
const TABLE: &str = include_str!("../../../docs/commands.table");

/// The roles that may run a command, named as `wallet top-up`. All of them, if the table does not have it.
pub(crate) fn roles_for(command: &str) -> Vec<OperatorRole> {
    let mut lines = TABLE.lines().filter_map(cells);
    let marks = lines.find_map(|(name, marks)| (name == command).then_some(marks));
    let marks = marks.unwrap_or([true; 3]);
    OperatorRole::ALL.into_iter().zip(marks).filter_map(|(role, may)| may.then_some(role)).collect()
}

/// Refuses a rehearsal to a person who may not run the command. The database would refuse only the act.
pub(crate) fn check(command: &str, operator: &Operator) -> Result<(), VendctlError> {
    let roles = roles_for(command);
    if roles.iter().any(|role| operator.roles.contains(role)) {
        return Ok(());
    }
    Err(VendctlError::NeedsRole { needs: named(&roles, " or "), has: named(&operator.roles, ", ") })
}

/// The roles as people say them: `finance or administrator`.
pub(crate) fn named(roles: &[OperatorRole], between: &str) -> String {
    roles.iter().map(|role| role.word()).collect::<Vec<_>>().join(between)
}

/// `error`, or which role the command needs, if this operator has none of them: what else is wrong is no question then.
pub(crate) fn explained(error: VendctlError, operator: &Operator, command: &str) -> VendctlError {
    if error.of_the_database().is_some_and(DatabaseError::may_be_committed) {
        return error;
    }
    check(command, operator).err().unwrap_or(error)
}

/// A command, and which of the roles may run it.
fn cells(line: &str) -> Option<(String, [bool; 3])> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (name, marks) = words.split_last_chunk::<3>()?;
    let marks = marks.map(|mark| match mark {
        // Who may besides be shown tokens is no question of these roles.
        "yes" | "reader" => Some(true),
        "-" => Some(false),
        _ => None,
    });
    let [Some(support), Some(finance), Some(administrator)] = marks else { return None };
    Some((name.join(" "), [support, finance, administrator]))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::arguments::Arguments;

    /// Every command that needs the database, by its name.
    fn collect(command: &clap::Command, before: &str, into: &mut Vec<String>) {
        for sub in command.get_subcommands() {
            let name = format!("{before} {}", sub.get_name()).trim().to_owned();
            if sub.has_subcommands() {
                collect(sub, &name, into);
            } else {
                into.push(name);
            }
        }
    }

    #[test]
    fn the_table_has_every_command_once_in_alphabetical_order() {
        let mut commands = Vec::new();
        collect(&Arguments::command(), "", &mut commands);
        commands.retain(|name| {
            !["completions", "man-pages", "archive verify", "archive show", "fetch-statement"]
                .contains(&name.as_str())
        });
        commands.sort_unstable();
        let listed: Vec<String> = TABLE.lines().filter_map(cells).map(|(name, _)| name).collect();
        assert_eq!(listed, commands);
    }
}
