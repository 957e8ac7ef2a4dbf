DROP TABLE provider_floats;
