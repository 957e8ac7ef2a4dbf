-- look_at_wallets
-- The wallets that these reserves and records need, and whether each could be locked at once. It waits for no lock, and
-- its transaction gives back at once what it has locked. A reserve refers to the commission wallet of its organisation and
-- does not change it, so a weaker lock is enough. If $3 is an array, only its wallets
-- are looked at.
WITH needed AS MATERIALIZED (
    SELECT d.id AS debited_id, NULL::bigint AS purchase_id, a.id AS wallet_id, a.id = d.id AS is_changed
    FROM accounts d
    JOIN accounts a ON a.organisation_id = d.organisation_id AND (a.id = d.id OR a.category = 'COMMISSION')
    WHERE d.id = ANY ($1) AND (a.id = ANY ($3) OR $3 IS NULL)
    UNION ALL
    SELECT NULL, p.id, a.id, true
    FROM purchases p
    JOIN accounts a ON a.id IN (p.account_id, p.commission_account_id)
    WHERE p.id = ANY ($2) AND (a.id = ANY ($3) OR $3 IS NULL)
), changeable AS MATERIALIZED (
    SELECT id FROM accounts
    WHERE id = ANY (ARRAY (SELECT wallet_id FROM needed WHERE is_changed))
    ORDER BY id
    FOR NO KEY UPDATE SKIP LOCKED
), referable AS MATERIALIZED (
    SELECT id FROM accounts
    WHERE id = ANY (ARRAY (SELECT wallet_id FROM needed WHERE NOT is_changed))
    ORDER BY id
    FOR KEY SHARE SKIP LOCKED
)
SELECT n.debited_id, n.purchase_id, n.wallet_id, n.is_changed,
    CASE WHEN n.is_changed THEN n.wallet_id IN (SELECT id FROM changeable)
        ELSE n.wallet_id IN (SELECT id FROM referable) END AS is_free
FROM needed n
