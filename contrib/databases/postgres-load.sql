-- SPDX-License-Identifier: MIT
-- Rows without their head on standard input.
SET client_min_messages = warning;
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
