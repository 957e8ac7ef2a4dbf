//! The tables of the typed statements as Diesel sees them, with the columns that this crate names.

diesel::table! {
    organisations (id) {
        id -> BigInt,
        environment -> Text,
    }
}

diesel::table! {
    accounts (id) {
        id -> BigInt,
        organisation_id -> Nullable<BigInt>,
        house -> Nullable<Text>,
        name -> Text,
        currency -> Text,
        category -> Nullable<Text>,
        status -> Text,
        handling -> Text,
        retries_enabled -> Bool,
        rank -> Integer,
        posted -> Nullable<BigInt>,
        held -> Nullable<BigInt>,
        low_balance -> Nullable<BigInt>,
        created_at -> Timestamptz,
    }
}

diesel::table! {
    journal_entries (id) {
        id -> BigInt,
        kind -> Text,
        posted_at -> Timestamptz,
        reference -> Nullable<Text>,
    }
}

// The table has no primary key, but Diesel demands one.
diesel::table! {
    postings (entry_id) {
        entry_id -> BigInt,
        debit_account_id -> BigInt,
        credit_account_id -> BigInt,
        currency -> Text,
        amount -> BigInt,
    }
}

diesel::table! {
    payouts (entry_id) {
        entry_id -> BigInt,
        kind -> Text,
    }
}

diesel::joinable!(payouts -> journal_entries (entry_id));
diesel::joinable!(postings -> journal_entries (entry_id));
diesel::allow_tables_to_appear_in_same_query!(journal_entries, payouts, postings);
