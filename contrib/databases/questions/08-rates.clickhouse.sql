-- SPDX-License-Identifier: MIT
SELECT target, sum(most), count(), max(most), tupleElement(arraySort(groupArray(tuple(-toInt64(most), second)))[1], 2)
FROM (
	SELECT target, intDiv(ts_ns, 1000000000) AS second, count() AS most
	FROM events WHERE event_id != 0
	GROUP BY target, second
) GROUP BY target ORDER BY target
