DROP FUNCTION carry_cutoffs;
DROP FUNCTION cut_off;
DROP FUNCTION lock_cutoffs;
DROP FUNCTION stretch_of_postings;
DROP TABLE cutoffs;
