-- SPDX-License-Identifier: MIT
-- The busiest thread of each ten seconds, by events: target, beginning (s since 1970), thread, events.
SELECT target, slice * 10, thread, events
FROM (
	SELECT target, slice, thread, events,
		row_number() OVER (PARTITION BY target, slice ORDER BY events DESC, thread) AS place
	FROM (
		SELECT target, whole(ts_ns, 10000000000) AS slice, thread, count(*) AS events
		FROM events WHERE tid IS NOT NULL
		GROUP BY target, whole(ts_ns, 10000000000), thread
	) counted
) placed
WHERE place = 1 ORDER BY target, slice;
