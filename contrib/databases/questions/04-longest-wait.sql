-- SPDX-License-Identifier: MIT
-- The longest wait for a lock, and who had it: target, waited (ns), lock, waiter, holder.
WITH longest AS (
	SELECT target, stream, item, tid, thread, begin_ns, end_ns, ns,
		row_number() OVER (PARTITION BY target ORDER BY ns DESC, end_ns, item) AS place
	FROM spans WHERE pair = 'wait'
), held AS (
	SELECT w.target, w.ns, w.item, w.thread, coalesce(h.thread, '?') AS holder,
		-- The last to let it go while the other waited.
		row_number() OVER (PARTITION BY w.target ORDER BY h.end_ns DESC) AS place
	FROM longest w LEFT JOIN (SELECT * FROM spans WHERE pair = 'hold') h
		ON h.target = w.target AND h.stream = w.stream AND h.item = w.item AND h.tid <> w.tid
		AND h.end_ns > w.begin_ns AND h.end_ns <= w.end_ns
	WHERE w.place = 1
)
SELECT target, ns, item, thread, holder FROM held WHERE place = 1 ORDER BY target;
