//! Identity's tables as diesel sees them.

diesel::table! {
    organisations (id) {
        id -> BigInt,
        code -> Text,
        name -> Text,
        environment -> Text,
        status -> Text,
        created_at -> Timestamptz,
        receipt_footer -> Nullable<Text>,
    }
}

diesel::table! {
    console_links (secret_sha256) {
        secret_sha256 -> Bytea,
        login -> Text,
        expires_at -> Timestamptz,
        sealed -> Bytea,
    }
}

diesel::table! {
    oauth_clients (id) {
        id -> BigInt,
        organisation_id -> BigInt,
        client_id -> Text,
        name -> Text,
        status -> Text,
        created_at -> Timestamptz,
    }
}

diesel::table! {
    client_secrets (id) {
        id -> BigInt,
        oauth_client_id -> BigInt,
        secret_hash -> Bytea,
        created_at -> Timestamptz,
        expires_at -> Nullable<Timestamptz>,
        revoked_at -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    users (id) {
        id -> BigInt,
        organisation_id -> BigInt,
        username -> Text,
        password_hash -> Text,
        full_name -> Text,
        phone_number -> Nullable<Text>,
        email -> Nullable<Text>,
        role -> Text,
        status -> Text,
        created_at -> Timestamptz,
    }
}

diesel::table! {
    token_families (id) {
        id -> BigInt,
        organisation_id -> BigInt,
        user_id -> BigInt,
        client_secret_id -> BigInt,
        revoked_at -> Nullable<Timestamptz>,
        revoked_because -> Nullable<Text>,
    }
}

diesel::table! {
    access_tokens (id) {
        id -> BigInt,
        family_id -> BigInt,
        generation -> Integer,
        token_hash -> Bytea,
        created_at -> Timestamptz,
        expires_at -> Timestamptz,
    }
}

diesel::table! {
    refresh_tokens (id) {
        id -> BigInt,
        family_id -> BigInt,
        generation -> Integer,
        token_hash -> Bytea,
        created_at -> Timestamptz,
        expires_at -> Timestamptz,
        exchanged_at -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    audit_log (id) {
        id -> BigInt,
        actor -> Text,
        action -> Text,
        organisation_id -> Nullable<BigInt>,
        subject -> Text,
        reason -> Text,
        details -> Jsonb,
    }
}
