-- Expand. The entries that move no wallet are few, and a trial balance reads those of its period.
CREATE INDEX CONCURRENTLY journal_entries_beside_wallets ON journal_entries (id)
    WHERE kind NOT IN ('SETTLE', 'TOP_UP', 'ADJUST')
