-- For each recorded signal of a point, the lowest load at which it crossed its mark.
ALTER TABLE points ADD COLUMN first_crossings_json TEXT NOT NULL DEFAULT '[]';
