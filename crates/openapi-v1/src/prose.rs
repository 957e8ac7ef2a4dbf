//! The texts of the document.

use crate::{batches, webhooks};
use http_v1::Endpoint;

pub(crate) const OVERVIEW: &str = "Prepaid electricity, water and airtime, paid from a prepaid wallet.\n\n\
    A purchase is `validate` (a quote; nothing changes), then `confirm` (money moves and a token comes back). If the \
    answer to a confirm is lost or is `provider_timeout`, ask `retry` with the same `subscriber_identifier` and \
    `external_reference`: it tells what became of the purchase and never charges twice. **Never send a confirm \
    again to find out.**\n\n\
    The [guide](/docs/guide) goes through it step by step; every [error code](/docs/errors) has a page.";

pub(crate) const CLIENT: &str = "At refresh: `client_id` and `client_secret` (RFC 6749, section 2.3.1).";
pub(crate) const ACCESS_TOKEN: &str = "The `access_token` of login or refresh, for `access_in` seconds.";

pub(crate) const BODY: &str = "One JSON object of at most 16 KiB without repeated keys. Fields that are not listed \
    are ignored; null is the same as absent.";

pub(crate) const LARGE_BODY: &str = "One JSON object of at most 4 MiB without repeated keys, or a table of comma-separated values in \
    UTF-8 (RFC 4180). Fields that are not listed are ignored; null is the same as absent. In a table, an empty value is the same as \
    absent, and a column that is not a field of a line is refused.";

/// The groups in which endpoints are shown.
pub(crate) const TAGS: [(&str, &str); 8] = [
    (SESSION, "Coming in, staying in, and who one is."),
    (WALLET, "Accounts and their balances."),
    (CATALOGUE, "What can be bought."),
    (PURCHASES, "Quotes, purchases, and what became of them."),
    (BOOKS, "What a day was: every movement of an account, and what was sold."),
    (EVENTS, "What happened, in an order that never changes."),
    (WEBHOOKS, "Addresses to which the service sends your events."),
    (BATCHES, "Many purchases in one request, bought one by one."),
];

const SESSION: &str = "Session";
const WALLET: &str = "Accounts";
const CATALOGUE: &str = "Products";
const PURCHASES: &str = "Purchases";
const BOOKS: &str = "Books";
const EVENTS: &str = "Events";
pub(crate) const WEBHOOKS: &str = "Webhooks";
pub(crate) const BATCHES: &str = "Batches";

/// The names and the description of an endpoint.
pub(crate) struct Texts {
    pub(crate) operation_id: &'static str,
    pub(crate) tag: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) description: &'static str,
}

#[expect(clippy::too_many_lines, reason = "one table, one row per endpoint")]
pub(crate) const fn about(endpoint: Endpoint) -> Texts {
    match endpoint {
        Endpoint::Login => Texts {
            operation_id: "login",
            tag: SESSION,
            summary: "Log in",
            description: "Six credentials for an access token and a refresh token. Whatever is wrong about them, the \
                answer is the same.",
        },
        Endpoint::Refresh => Texts {
            operation_id: "refresh",
            tag: SESSION,
            summary: "Refresh the access token",
            description: "A refresh token is used once and brings its successor. Repeated within a minute, for instance \
                because the answer was lost, it brings the same successor; used again later, it ends the session, \
                because another party may hold it. The client proves itself by its secret, in the body or in HTTP \
                Basic, or by an access token of the same session that has not ended; a secret in the body counts \
                before any header.",
        },
        Endpoint::Me => Texts {
            operation_id: "me",
            tag: SESSION,
            summary: "Who the caller is",
            description: "The integration user, its role with every permission, and its organisation.",
        },
        Endpoint::Accounts => Texts {
            operation_id: "listAccounts",
            tag: WALLET,
            summary: "List accounts",
            description: "The active accounts of the caller's organisation in the order of `rank`. `balance` is what is \
                available: money set aside for purchases under way is not in it.",
        },
        Endpoint::Account => Texts {
            operation_id: "getAccount",
            tag: WALLET,
            summary: "One account",
            description: "The same for one account. Another organisation's account does not exist for the caller.",
        },
        Endpoint::Products => Texts {
            operation_id: "listProducts",
            tag: CATALOGUE,
            summary: "List products",
            description: "What the organisation can buy and from whom, with the form of the identifier that each product \
                asks for. Apply length and pattern together and skip what is null; a provider may still refuse. \
                Names and labels are in the language of `Accept-Language`.",
        },
        Endpoint::Validate => Texts {
            operation_id: "validatePurchase",
            tag: PURCHASES,
            summary: "Get a quote",
            description: "Asks the provider who the customer is and what the amount would buy, and prices it. Nothing is \
                stored and no money moves; it may be sent as often as you like. Show `subscriber_details` before \
                the sale: it catches a mistyped meter. `id` and `reference` are not those of a later purchase.",
        },
        Endpoint::Confirm => Texts {
            operation_id: "confirmPurchase",
            tag: PURCHASES,
            summary: "Buy",
            description: "Sets `total` aside in the wallet, has the provider vend, and pays. 200 with `SUCCESSFUL`: paid, and \
                `product.token` is the customer's. Any other answer: the table says what happened to the money and what \
                to do now. Calling retry is never wrong. A second confirm is a second purchase, unless it carries the \
                same `Idempotency-Key`. It can take two and a half minutes to answer: set the timeout of your \
                client accordingly. With managed retries, a passing failure is answered 200 with `PENDING`: \
                the service tries again itself and tells the customer by SMS.\n\n\
                A token with `|` in it is several, as `Description: Token`, to be entered in that order.",
        },
        Endpoint::Retry => Texts {
            operation_id: "retryPurchase",
            tag: PURCHASES,
            summary: "Settle a purchase whose answer was lost",
            description: "Finds the newest purchase of `subscriber_identifier` and `external_reference`, asks the provider \
                where needed, and never charges twice. 200: it was made; the answer is the one that confirm gave or \
                would have given. An error with `failure`: it failed for that reason, and nothing was charged. An \
                error with `recovery`: it is still open, and `recovery` says when to ask again and by when the \
                outcome is known. Asking more often does no harm and brings nothing. The table says what to do \
                after each answer.",
        },
        Endpoint::Purchases => Texts {
            operation_id: "listPurchases",
            tag: PURCHASES,
            summary: "List purchases",
            description: "The purchases of the caller's organisation, the newest first, as they are now. No provider \
                is asked about them: to settle an open one, call retry.",
        },
        Endpoint::Purchase => Texts {
            operation_id: "getPurchase",
            tag: PURCHASES,
            summary: "One purchase",
            description: "A purchase as it is now. Another organisation's purchase does not exist for the caller.",
        },
        Endpoint::Statement => Texts {
            operation_id: "getStatement",
            tag: BOOKS,
            summary: "Statement of an account",
            description: "Every posting of the account from the beginning of the day `from` to the end of the day `to`, \
                the oldest first, with the balance after each, and the balances at both ends. Days are those of the \
                time zone of the service. With `complete` true it never changes, and its closing balance is the opening \
                balance of the next day. With `complete` false the period has not ended: the statement reaches up to \
                `as_of`. All pages of a statement have the same balances and the same `as_of`. At most 366 days.\n\n\
                As CSV, the first row has the opening balance and the last row of the last page the closing balance, or \
                the interim balance while the period has not ended. As camt.053.001.08 each page is one message, with \
                its number in the pagination of the statement. The statement of a closed or suspended account can \
                still be read.",
        },
        Endpoint::Sales => Texts {
            operation_id: "reportSales",
            tag: BOOKS,
            summary: "Sales by day",
            description: "The successful purchases of the organisation by the day on which they were paid, by product, \
                provider and currency. It agrees with the statements of the same days: for each day, `total` is \
                what the lines of kind `PURCHASE` took from all accounts. At most 31 days.",
        },
        Endpoint::Receipt => Texts {
            operation_id: "getReceipt",
            tag: PURCHASES,
            summary: "The customer's receipt",
            description: "The receipt of a successful purchase, ready to be printed: as text in UTF-8, as bytes for a \
                receipt printer (ESC/POS), as HTML that loads nothing, or as PDF. It has the tokens in groups of four, \
                numbered if there are several, the units, the tax and levies as the provider stated them, the name of \
                your organisation and the footer that the operator set for it. No line of text is wider than \
                `columns`. The same request always gets the same receipt, until the purchase is erased. A purchase \
                that has failed has no receipt: 404. One that is still open has none yet: 409, with `recovery`.",
        },
        Endpoint::Certificate => Texts {
            operation_id: "getCertificate",
            tag: PURCHASES,
            summary: "Proof of the outcome",
            description: "A signed statement of how a purchase ended, for an auditor, a customer or a court: *sold*, or *not sold* \
                with the reason. `certificate` is a JWS (RFC 7515) in the compact form, signed by Ed25519 (`EdDSA`). Anybody can \
                verify it offline, with the keys of `/.well-known/jwks.json`, and it stays the same for ever: the same bytes at each \
                request, also after the key was replaced and after personal data was erased. It has no token, no meter and no phone \
                number. `token_digest` and `subscriber_digest` are HMAC-SHA256 with `salt` as the key, over `token:` and \
                `product.token`, or `subscriber:` and the meter. The salt is only in this answer. Give it away with the certificate only \
                where the token and the meter may be known. A purchase that is open has no certificate yet: 409, with `recovery`. \
                A server without a key answers 403 `certificates_disabled`.",
        },
        Endpoint::LookUp => Texts {
            operation_id: "lookUpSubscriber",
            tag: PURCHASES,
            summary: "The last tokens of a meter",
            description: "For a customer who has lost the slip: the last successful purchases of electricity and water \
                for this meter, the newest first, of the last 90 days, if your organisation sold them. \
                `getReceipt` prints one of them again. It has a permission of its own, and each request has a line in \
                the operator's audit log, with the user, the meter and the purchases that were shown. An organisation \
                may look up 1,000 meters in an hour; then it is 429 `rate_limited`.",
        },
        Endpoint::Message => Texts {
            operation_id: "sendMessageAgain",
            tag: PURCHASES,
            summary: "Send the token again",
            description: "Sends the text message with the token of a successful purchase once more, to the number of the \
                purchase or to the one in `phone_number`, in the language of the purchase. The answer says that it will \
                be sent, not that it has arrived. Each request sends a message: do not repeat it because its answer was \
                lost, unless the customer waits in vain. A few may be sent in a day for one purchase; `remaining_today` \
                counts down, and then it is 429 `rate_limited`. A purchase that has failed, or whose token was erased, has \
                no message: 404. One that is still open has none yet: 409, with `recovery`.",
        },
        Endpoint::Events => Texts {
            operation_id: "listEvents",
            tag: EVENTS,
            summary: "What happened",
            description: "Everything that happened to the organisation's things, the oldest first. The order never changes, \
                and nothing is ever added before an event that was read: keep `next_cursor` when you have worked off a page, \
                and send it as `cursor` to go on. With `wait`, the request stays open until there is an event, so a loop \
                without a pause of its own hears of an event within a second.\n\n\
                A purchase has one `purchase.accepted` and, at its end, either one `purchase.succeeded` or one \
                `purchase.failed`. `purchase.pending` and `purchase.in_review` may come between them. An event has no token: \
                read the purchase for it. Events are kept for some weeks. A cursor that is older is refused, because it \
                would leave some out.",
        },
        Endpoint::Webhooks(call) => webhooks::about(call),
        Endpoint::Batches(call) => batches::about(call),
    }
}
