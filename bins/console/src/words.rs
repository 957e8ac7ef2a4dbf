//! The words of a command, with what a person typed kept apart from what the program means.

/// A command of `vendctl` with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Words {
    options: Vec<String>,
    values: Vec<String>,
}

impl Words {
    /// The command, as in `provider pause`.
    pub(crate) fn of(command: &str) -> Self {
        Self { options: command.split(' ').map(str::to_owned).collect(), values: Vec::new() }
    }

    /// A switch, as in `--all`.
    pub(crate) fn switch(mut self, name: &str) -> Self {
        self.options.push(format!("--{name}"));
        self
    }

    /// An option with a value that may begin with a dash. Without a value it is left out.
    pub(crate) fn option(mut self, name: &str, value: &str) -> Self {
        let value = value.trim();
        if !value.is_empty() {
            self.options.push(format!("--{name}={value}"));
        }
        self
    }

    /// A value without a name. Without text it is left out.
    pub(crate) fn value(mut self, value: &str) -> Self {
        let value = value.trim();
        if !value.is_empty() {
            self.values.push(value.to_owned());
        }
        self
    }

    /// All words. What follows `--` is never taken for an option.
    pub(crate) fn all(self) -> Vec<String> {
        let mut all = self.options;
        if !self.values.is_empty() {
            all.push("--".to_owned());
            all.extend(self.values);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_person_types_is_never_an_option() {
        let words =
            Words::of("purchases search").option("amount", "--all").option("since", " ").value("--csv");
        assert_eq!(words.all(), ["purchases", "search", "--amount=--all", "--", "--csv"]);
    }
}
