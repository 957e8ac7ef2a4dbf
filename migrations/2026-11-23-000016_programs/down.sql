DROP FUNCTION end_programs_before;
DROP VIEW connected_programs;
DROP TABLE served_programs;
