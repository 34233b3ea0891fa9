-- SPDX-License-Identifier: MIT
SELECT target, slice * 10, thread, events
FROM (
	SELECT target, intDiv(ts_ns, 10000000000) AS slice, thread, count() AS events
	FROM events WHERE tid IS NOT NULL
	GROUP BY target, slice, thread ORDER BY target, slice, events DESC, thread
	LIMIT 1 BY target, slice
)
