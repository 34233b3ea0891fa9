-- SPDX-License-Identifier: MIT
-- The longest silence: target, how long (ns), since (ns since 1970), the event before it, events lost in it.
SELECT target, ns, since, event, lost_before
FROM (
	SELECT target, ts_ns - since AS ns, since, event, lost_before,
		row_number() OVER (PARTITION BY target ORDER BY ts_ns - since DESC, since) AS place
	FROM (
		SELECT target, ts_ns, lost_before, lag(ts_ns) OVER one AS since, lag(event) OVER one AS event
		FROM events WHERE event_id <> 0
		WINDOW one AS (PARTITION BY target, stream ORDER BY seq)
	) steps
	WHERE since IS NOT NULL
) placed
WHERE place = 1 ORDER BY target;
