-- Where an integrator says that a purchase came from, in its own words: the Current surface takes a `source_tag`, and
-- whoever looks into a purchase is to see it.

-- Nobody sells while this holds the table, so it neither reads nor writes a row: the column begins empty, and the check,
-- which whatever is empty passes, is not tried on what is there. A server of the version before names no such column, and
-- what it has begun it can still settle.
ALTER TABLE purchases
    ADD COLUMN source_tag text,
    ADD CONSTRAINT purchases_source_tag_check CHECK (length(source_tag) BETWEEN 1 AND 100) NOT VALID;
