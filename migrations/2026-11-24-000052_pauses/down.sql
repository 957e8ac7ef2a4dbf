DROP TRIGGER offers_are_remembered_when_removed ON offers;
DROP FUNCTION remember_removed_offer;
DROP TABLE removed_offers;
DROP TABLE provider_pauses;
