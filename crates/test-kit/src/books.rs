//! What must be true of the books of every test.

/// Each wallet that holds another amount than its open purchases cost, or has another balance than its postings add up to:
/// one line of text for each contradiction.
pub const WALLET_CONTRADICTIONS: &str = "
    SELECT 'wallet ' || a.id || ' holds ' || a.held FROM accounts a
    WHERE a.house IS NULL AND a.held <> (SELECT coalesce(sum(total), 0) FROM purchases p
        WHERE p.account_id = a.id AND p.state IN ('IN_FLIGHT', 'IN_DOUBT', 'RETRY_DUE', 'REVIEW'))
    UNION ALL
    SELECT 'wallet ' || a.id || ' has ' || a.posted FROM accounts a
    WHERE a.house IS NULL AND a.posted <>
        (SELECT coalesce(sum(amount), 0) FROM postings WHERE credit_account_id = a.id)
        - (SELECT coalesce(sum(amount), 0) FROM postings WHERE debit_account_id = a.id)";
