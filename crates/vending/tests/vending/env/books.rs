//! The check when an environment is closed: wallets, journal, purchases, their history and the provider's own
//! log of vends must agree.

use test_kit::books::WALLET_CONTRADICTIONS;

use super::{NEIGHBOUR, PROVIDER, TestEnv};

impl TestEnv {
    /// All contradictions in the books. Empty if there are none.
    pub fn contradictions(&self) -> String {
        lines([self.contradictions_of_our_own(), self.sql(&self.vends())])
    }

    /// The same without the provider's own log of vends.
    pub fn contradictions_of_our_own(&self) -> String {
        let read = [WALLET_CONTRADICTIONS, ENTRIES, SETTLEMENTS, HISTORY].map(|query| self.sql(query));
        lines(read.into_iter().chain([self.sends()]))
    }

    fn vends(&self) -> String {
        let logs = [(PROVIDER, self.utility.vends()), (NEIGHBOUR, self.neighbour.vends())];
        let (mut providers, mut references) = (Vec::new(), Vec::new());
        for (code, order) in logs.iter().flat_map(|(code, log)| log.iter().map(move |order| (code, order))) {
            providers.push(format!("'{code}'"));
            references.push(format!("'{}'", order.reference));
        }
        let array = |texts: &[String]| format!("ARRAY[{}]::text[]", texts.join(", "));
        VENDS.replace("$1", &array(&providers)).replace("$2", &array(&references))
    }

    /// A copy is sent only after its record.
    fn sends(&self) -> String {
        let calls = [self.utility.calls(), self.neighbour.calls()].concat();
        let left = calls.iter().filter(|call| call.starts_with("vend")).count();
        let recorded = self.sql(
            "SELECT count(*) FILTER (WHERE fact IN ('RESERVED', 'SENT_AGAIN', 'ATTEMPT_STARTED'))
                  - count(*) FILTER (WHERE fact = 'NEVER_SENT') FROM purchase_history",
        );
        let is_covered = recorded.parse::<usize>().is_ok_and(|recorded| left <= recorded);
        if is_covered { String::new() } else { format!("{left} copies were sent, {recorded} are recorded") }
    }
}

fn lines(found: impl IntoIterator<Item = String>) -> String {
    found.into_iter().filter(|found| !found.is_empty()).collect::<Vec<_>>().join("\n")
}

const ENTRIES: &str = "
    SELECT 'entry ' || e.id || ' moves nothing' FROM journal_entries e
    WHERE NOT EXISTS (SELECT FROM postings WHERE entry_id = e.id)";

const SETTLEMENTS: &str = "
    SELECT 'purchase ' || p.id || ' is ' || p.state || ' and has ' || count(e.id) || ' settlements'
    FROM purchases p LEFT JOIN journal_entries e ON e.purchase_id = p.id AND e.kind = 'SETTLE'
    GROUP BY p.id
    HAVING count(e.id) <> CASE p.state WHEN 'SUCCESSFUL' THEN 1 ELSE 0 END
    UNION ALL
    SELECT 'purchase ' || p.id || ' was settled otherwise than priced'
    FROM purchases p
    JOIN journal_entries e ON e.purchase_id = p.id AND e.kind = 'SETTLE'
    JOIN postings m ON m.entry_id = e.id
    JOIN accounts d ON d.id = m.debit_account_id
    JOIN accounts c ON c.id = m.credit_account_id
    GROUP BY p.id
    HAVING (p.net, p.charge, p.commission, p.net + p.charge + p.commission) IS DISTINCT FROM (
        coalesce(sum(m.amount) FILTER (WHERE d.id = p.account_id AND c.house = 'PROVIDER_PAYABLE'), 0),
        coalesce(sum(m.amount) FILTER (WHERE d.id = p.account_id AND c.house = 'FEE_INCOME'), 0),
        coalesce(sum(m.amount) FILTER (WHERE d.house = 'COMMISSION_EXPENSE' AND c.id = p.commission_account_id), 0),
        sum(m.amount))
    UNION ALL
    SELECT 'purchase ' || p.id || ' has incidents without entries, or entries without' FROM purchases p
    WHERE (SELECT count(*) FROM incidents i WHERE i.purchase_id = p.id)
        <> (SELECT count(*) FROM journal_entries e WHERE e.purchase_id = p.id AND e.kind = 'INCIDENT')";

const HISTORY: &str = "
    WITH told AS (
        SELECT v.*, lag(v.state) OVER story AS state_before, lag(v.fence) OVER story AS fence_before,
            lead(v.id) OVER story IS NULL AS is_last
        FROM purchase_history v WINDOW story AS (PARTITION BY v.purchase_id ORDER BY v.id)
    )
    SELECT 'purchase ' || purchase_id || ' was reserved out of order' FROM told
    WHERE (fact = 'RESERVED') <> (state_before IS NULL)
    UNION ALL
    SELECT 'purchase ' || purchase_id || ' left ' || state_before FROM told
    WHERE state_before IN ('SUCCESSFUL', 'FAILED') AND state <> state_before
    UNION ALL
    SELECT 'purchase ' || purchase_id || ' went back to fence ' || fence FROM told WHERE fence < fence_before
    UNION ALL
    SELECT 'purchase ' || p.id || ' ends its history otherwise' FROM purchases p
    LEFT JOIN told t ON t.purchase_id = p.id AND t.is_last
    WHERE (t.state, t.fence, t.attempt) IS DISTINCT FROM (p.state, p.fence, p.attempt)
    UNION ALL
    SELECT 'purchase ' || p.id || ' has other attempts than it says' FROM purchases p
    WHERE p.attempt <> (SELECT count(*) FROM attempts t WHERE t.purchase_id = p.id)
        OR NOT EXISTS (SELECT FROM attempts t WHERE t.purchase_id = p.id AND t.number = p.attempt
            AND t.provider_reference = p.provider_reference)";

/// A provider names each vend after its reference. No other order at that provider has this reference.
const VENDS: &str = "
    WITH log AS (SELECT v.provider_code, v.reference, t.purchase_id
        FROM unnest($1, $2) AS v (provider_code, reference)
        LEFT JOIN (attempts t JOIN purchases s ON s.id = t.purchase_id)
            ON t.provider_reference = v.reference AND s.provider_code = v.provider_code)
    SELECT 'vend ' || reference || ' is of no purchase' FROM log WHERE purchase_id IS NULL
    UNION ALL
    SELECT 'vend ' || reference || ' was made ' || count(*) || ' times' FROM log
    GROUP BY provider_code, reference HAVING count(*) > 1
    UNION ALL
    SELECT 'vend ' || l.reference || ' of purchase ' || p.id || ', which is ' || p.state || ', was not paid for'
    FROM log l JOIN purchases p ON p.id = l.purchase_id
    WHERE p.ended_at IS NOT NULL
        AND p.provider_transaction IS DISTINCT FROM 'S' || l.reference
        AND NOT EXISTS (SELECT FROM incidents i
            WHERE i.purchase_id = p.id AND i.provider_transaction = 'S' || l.reference)
    UNION ALL
    SELECT 'purchase ' || p.id || ' was paid for and not vended' FROM purchases p
    WHERE p.state = 'SUCCESSFUL' AND NOT EXISTS (SELECT FROM log l
        WHERE l.purchase_id = p.id AND p.provider_transaction = 'S' || l.reference)";
