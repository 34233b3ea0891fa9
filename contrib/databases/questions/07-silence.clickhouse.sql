-- SPDX-License-Identifier: MIT
SELECT target, -tupleElement(longest, 1), tupleElement(longest, 2), tupleElement(longest, 3), tupleElement(longest, 4)
FROM (
	SELECT target, arraySort(groupArray(one))[1] AS longest
	FROM (
		SELECT target, arraySort(groupArray(tuple(seq, ts_ns, event, lost_before))) AS steps,
			arraySort(arrayMap((a, b) -> tuple(tupleElement(a, 2) - tupleElement(b, 2), tupleElement(a, 2),
				tupleElement(a, 3), tupleElement(b, 4)), arrayPopBack(steps), arrayPopFront(steps)))[1] AS one
		FROM events WHERE event_id != 0
		GROUP BY target, stream HAVING length(steps) > 1
	) GROUP BY target
) ORDER BY target
