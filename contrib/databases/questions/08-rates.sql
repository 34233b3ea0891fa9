-- SPDX-License-Identifier: MIT
-- Event rates: target, events, seconds with events, most events in a second, that second (s since 1970).
SELECT target, events, seconds, most, second
FROM (
	SELECT target, second, most, sum(most) OVER (PARTITION BY target) AS events,
		count(*) OVER (PARTITION BY target) AS seconds,
		row_number() OVER (PARTITION BY target ORDER BY most DESC, second) AS place
	FROM (
		SELECT target, whole(ts_ns, 1000000000) AS second, count(*) AS most
		FROM events WHERE event_id <> 0
		GROUP BY target, whole(ts_ns, 1000000000)
	) counted
) placed
WHERE place = 1 ORDER BY target;
