DROP TABLE certificates, certificate_keys;
DROP FUNCTION admit_certificate;
