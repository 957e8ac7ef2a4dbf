//! The tables of the typed statements as Diesel sees them, with the columns that this crate names.

diesel::table! {
    organisations (id) {
        id -> BigInt,
    }
}

diesel::table! {
    accounts (id) {
        id -> BigInt,
        organisation_id -> Nullable<BigInt>,
        currency -> Text,
        category -> Nullable<Text>,
        status -> Text,
    }
}

diesel::table! {
    providers (code) {
        code -> Text,
        name -> Text,
        retries_enabled -> Bool,
        repeat_is_safe -> Bool,
        remembers_refusals -> Bool,
        not_found_counts -> Bool,
        settles_within_s -> Integer,
        worker_slots -> Integer,
    }
}

diesel::table! {
    products (product) {
        product -> Text,
        length_min -> Nullable<SmallInt>,
        length_max -> Nullable<SmallInt>,
        pattern -> Nullable<Text>,
        hint -> Nullable<Text>,
    }
}

diesel::table! {
    product_texts (product, language) {
        product -> Text,
        language -> Text,
        display_name -> Nullable<Text>,
        subscriber_id_label -> Nullable<Text>,
    }
}

diesel::table! {
    offers (organisation_id, product, provider_code) {
        organisation_id -> BigInt,
        product -> Text,
        provider_code -> Text,
    }
}

diesel::table! {
    removed_offers (organisation_id, product, provider_code) {
        organisation_id -> BigInt,
        product -> Text,
        provider_code -> Text,
    }
}

diesel::table! {
    default_providers (organisation_id, product) {
        organisation_id -> BigInt,
        product -> Text,
        provider_code -> Text,
    }
}

diesel::table! {
    allowed_subscribers (organisation_id, subscriber_identifier) {
        organisation_id -> BigInt,
        subscriber_identifier -> Text,
    }
}
