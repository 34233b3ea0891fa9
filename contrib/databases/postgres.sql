-- SPDX-License-Identifier: MIT
-- The tables that the questions ask, made where they are missing; then the rows of standard input, without
-- their head, are put into them.
SET client_min_messages = warning;
BEGIN;
-- Two loaders that come first at once would both make the tables.
DO $$BEGIN PERFORM pg_advisory_xact_lock(7471120); END$$;

-- Wide columns first: no room is lost to alignment.
CREATE TABLE IF NOT EXISTS events (
	stream uuid NOT NULL,         -- UUID of the trace stream, the same in every block of the log
	seq bigint NOT NULL,          -- number of the event in the stream's life
	ts_ns bigint NOT NULL,        -- since 1970, UTC
	lost_before bigint NOT NULL,  -- events lost since the row before; their sum is what was lost
	tid bigint,                   -- NULL: no thread was recorded
	pid integer,
	event_id integer NOT NULL,    -- 0: no event, but losses behind a log's last event
	cpu smallint,
	target text NOT NULL,
	event text NOT NULL,
	payload text,
	thread text,
	-- Loading twice: the database itself keeps the second one out.
	PRIMARY KEY (stream, seq)
);
-- A load is put in by stream and number, so rows of one target and time lie together: what a range of
-- pages holds says which of them a question needs.
CREATE INDEX IF NOT EXISTS events_when ON events USING brin (target, ts_ns) WITH (pages_per_range = 32);

-- Which events begin and end a span.
CREATE TABLE IF NOT EXISTS pairs (pair text, begins text, ends text, PRIMARY KEY (pair, begins, ends));
INSERT INTO pairs VALUES
	('cycle', 'cycle_begin', 'cycle_end'),
	('frame', 'frame_begin', 'frame_end'),
	('wait', 'lock_wait', 'lock_held'),
	('hold', 'lock_held', 'lock_free')
	ON CONFLICT DO NOTHING;

CREATE OR REPLACE FUNCTION whole(a bigint, b bigint) RETURNS bigint
	LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT a / b';
CREATE OR REPLACE FUNCTION day_of(ts_ns bigint) RETURNS date
	LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$SELECT date '1970-01-01' + (ts_ns / 86400000000000)::integer$$;
-- The value of the first field as it stands there: text by a regular expression, which is slow, a number
-- without one.
CREATE OR REPLACE FUNCTION first_field(payload text) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$SELECT CASE
		WHEN payload IS NULL OR strpos(payload, ':') = 0 THEN ''
		WHEN substr(payload, strpos(payload, ':') + 1, 1) = '"' THEN substring(payload FROM '^\{"[^"]*":("(?:[^"\\]|\\.)*")')
		ELSE rtrim(split_part(substr(payload, strpos(payload, ':') + 1), ',', 1), '}') END$$;
CREATE OR REPLACE FUNCTION number_in(payload text, field text) RETURNS bigint
	LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT (payload::json ->> field)::bigint';

\ir spans.sql
COMMIT;

-- ---- Loading ----
BEGIN;
CREATE TEMP TABLE incoming (LIKE events INCLUDING DEFAULTS) ON COMMIT DROP;
\copy incoming (target, stream, seq, ts_ns, event, event_id, pid, tid, cpu, lost_before, payload, thread) FROM pstdin WITH (FORMAT csv)

WITH fresh AS (
	INSERT INTO events SELECT * FROM incoming ORDER BY stream, seq ON CONFLICT DO NOTHING RETURNING lost_before
)
SELECT (SELECT count(*) FROM incoming) AS read, count(*) AS fresh, coalesce(sum(lost_before), 0) AS lost FROM fresh
\gset

-- The same number must be the same event: a UUID that was given twice, a log loaded under another
-- name or with other filters would go unnoticed otherwise.
SELECT :read <> :fresh AS again \gset
\if :again
DO $$
DECLARE
	odd record;
BEGIN
	SELECT i.stream, i.seq, e.target INTO odd FROM incoming i JOIN events e USING (stream, seq)
		WHERE (i.target, i.ts_ns, i.event, i.lost_before) IS DISTINCT FROM (e.target, e.ts_ns, e.event, e.lost_before)
		LIMIT 1;
	IF FOUND THEN
		RAISE EXCEPTION 'stream %: event % is there already, from target %, and differs', odd.stream, odd.seq, odd.target
			USING HINT = 'Nothing was loaded. Was the log exported with other filters, or as another target?';
	END IF;
END $$;
\endif
COMMIT;
SELECT format('%s rows: %s loaded (%s events lost), %s were there already', :read, :fresh, :lost, :read - :fresh);
