-- SPDX-License-Identifier: MIT
-- From a begin event to its end event, by the rules of pxtrace stat: in one thread, with the same
-- first field, never across a loss.  One span of a kind at a time for a thread and a field.
CREATE OR REPLACE VIEW spans AS
WITH roles AS (
	SELECT p.pair, e.target, e.stream, e.seq, e.ts_ns, e.tid, e.thread,
		CASE WHEN e.event = p.begins THEN 1 WHEN e.event = p.ends THEN -1 ELSE 0 END AS role,
		first_field(e.payload) AS item,
		-- How many losses came before: whatever was open is closed by one.
		sum(CASE WHEN e.lost_before > 0 THEN 1 ELSE 0 END)
			OVER (PARTITION BY e.target, e.stream, p.pair ORDER BY e.seq) AS gaps
	FROM events e JOIN pairs p ON e.event = p.begins OR e.event = p.ends OR e.lost_before > 0
), steps AS (
	SELECT pair, target, stream, tid, thread, item, role, gaps, ts_ns,
		lag(role) OVER one AS role_before,
		lag(gaps) OVER one AS gaps_before,
		lag(ts_ns) OVER one AS begin_ns
	FROM roles WHERE role <> 0
	WINDOW one AS (PARTITION BY target, stream, pair, tid, item ORDER BY seq)
)
SELECT pair, target, stream, tid, coalesce(thread, '') AS thread, item,
	begin_ns, ts_ns AS end_ns, ts_ns - begin_ns AS ns, day_of(ts_ns) AS day
FROM steps
-- One CASE, not three conditions: PostgreSQL would take those for very rare, and join by loops.
WHERE CASE WHEN role = -1 AND role_before = 1 AND gaps = gaps_before THEN true ELSE false END;
