//! The tables of the typed statements as Diesel sees them, with the columns that this crate names.

diesel::table! {
    purchases (id) {
        id -> BigInt,
        organisation_id -> BigInt,
    }
}

diesel::table! {
    incidents (id) {
        id -> BigInt,
        purchase_id -> BigInt,
        provider_transaction -> Text,
    }
}

diesel::table! {
    incident_decisions (incident_id) {
        incident_id -> BigInt,
        actor -> Text,
        reason -> Text,
    }
}

diesel::joinable!(incidents -> purchases (purchase_id));
diesel::joinable!(incident_decisions -> incidents (incident_id));
diesel::allow_tables_to_appear_in_same_query!(incident_decisions, incidents, purchases);
