-- Expand. The worker takes what is due by turns among the organisations of a provider.
CREATE INDEX CONCURRENTLY purchases_due_by_organisation ON purchases (provider_code, organisation_id, due_at)
    WHERE due_at IS NOT NULL;
