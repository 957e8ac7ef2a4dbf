//! The closed sets of values in identity's columns. The schema's checks list the same values.

use database::DatabaseError;

/// The environment that credentials belong to. Credentials of one environment are not valid in the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Environment {
    Staging,
    Production,
}

/// Whether an organisation, client or user may do anything at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    Active,
    Suspended,
}

/// What a user may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Everything that an integrator does.
    Integrator,
    /// Reads, and quotes, which move no money.
    Viewer,
}

/// A word as the database spells it.
pub(crate) trait Word: Copy + 'static {
    const ALL: &'static [Self];

    fn spelling(self) -> &'static str;

    /// The word in `table.column` of row `key`.
    fn read(text: &str, table: &'static str, column: &'static str, key: i64) -> Result<Self, DatabaseError> {
        let mut all = Self::ALL.iter().copied();
        all.find(|word| word.spelling() == text).ok_or_else(|| DatabaseError::corrupt(table, column, key))
    }
}

impl Word for Environment {
    const ALL: &'static [Self] = &[Self::Staging, Self::Production];

    fn spelling(self) -> &'static str {
        self.code()
    }
}

impl Word for Status {
    const ALL: &'static [Self] = &[Self::Active, Self::Suspended];

    fn spelling(self) -> &'static str {
        self.code()
    }
}

impl Word for Role {
    const ALL: &'static [Self] = &[Self::Integrator, Self::Viewer];

    fn spelling(self) -> &'static str {
        self.code()
    }
}

impl Environment {
    /// `STAGING` or `PRODUCTION`.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Staging => "STAGING",
            Self::Production => "PRODUCTION",
        }
    }
}

impl Status {
    /// `ACTIVE` or `SUSPENDED`.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Active => "ACTIVE",
            Self::Suspended => "SUSPENDED",
        }
    }
}

impl Role {
    /// `INTEGRATOR` or `VIEWER`.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Integrator => "INTEGRATOR",
            Self::Viewer => "VIEWER",
        }
    }
}

#[cfg(test)]
mod tests {
    use test_kit::database::migrated;

    use super::*;

    /// The words that the schema lets `table.column` hold.
    fn allowed(database: &local_postgres::LocalDatabase, table: &str, column: &str) -> Vec<String> {
        let sql = format!(
            "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = '{table}_{column}_check'"
        );
        let definition = database.run_sql(&sql).unwrap();
        definition.split('\'').skip(1).step_by(2).map(str::to_owned).collect()
    }

    fn known<W: Word>() -> Vec<&'static str> {
        W::ALL.iter().map(|word| word.spelling()).collect()
    }

    #[test]
    fn the_schema_and_this_program_know_the_same_words() {
        let database = migrated();
        assert_eq!(allowed(&database, "organisations", "environment"), known::<Environment>());
        assert_eq!(allowed(&database, "users", "role"), known::<Role>());
        for table in ["organisations", "oauth_clients", "users"] {
            assert_eq!(allowed(&database, table, "status"), known::<Status>(), "{table}");
        }
    }

    #[test]
    fn an_unknown_word_is_reported_with_its_column_and_row() {
        let unknown = Role::read("OWNER", "users", "role", 7).unwrap_err();
        assert_eq!(unknown.to_string(), "users.role of row 7 is corrupt");
    }
}
