-- SPDX-License-Identifier: MIT
-- What the questions ask of a directory of Parquet files: duckdb.mjs puts its name in.
CREATE VIEW events AS
SELECT * FROM read_parquet('%DIRECTORY%/target=*/day=*/*.parquet',
	hive_partitioning = true, hive_types = {'target': VARCHAR, 'day': DATE});

-- Which events begin and end a span.
CREATE TABLE pairs (pair VARCHAR, begins VARCHAR, ends VARCHAR);
INSERT INTO pairs VALUES
	('cycle', 'cycle_begin', 'cycle_end'),
	('frame', 'frame_begin', 'frame_end'),
	('wait', 'lock_wait', 'lock_held'),
	('hold', 'lock_held', 'lock_free');

CREATE MACRO whole(a, b) AS a // b;
CREATE MACRO day_of(ts_ns) AS DATE '1970-01-01' + CAST(ts_ns // 86400000000000 AS INTEGER);
CREATE MACRO first_field(payload) AS regexp_extract(payload, '^\{"[^"]*":("(?:[^"\\]|\\.)*"|[^,}]*)', 1);
CREATE MACRO number_in(payload, field) AS CAST(payload ->> field AS BIGINT);
