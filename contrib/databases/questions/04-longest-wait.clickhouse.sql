-- SPDX-License-Identifier: MIT
SELECT target, any(ns), item, any(waiter), if(max(is_holder) = 0, '?', argMaxIf(thread, end_ns, is_holder = 1))
FROM (
	SELECT target, item, ns, waiter, thread, end_ns,
		thread_tid != tid AND end_ns > begin AND end_ns <= end AS is_holder
	FROM (
		SELECT target, tupleElement(one, 1) AS ns, tupleElement(one, 2) AS begin, tupleElement(one, 3) AS end,
			tupleElement(one, 4) AS item, tupleElement(one, 5) AS tid, tupleElement(one, 6) AS waiter,
			tupleElement(one, 7) AS stream
		FROM (
			SELECT target, arraySort(groupArray(tuple(-ns, end_ns, item, begin_ns, tid, thread, stream)))[1] AS first,
				tuple(-tupleElement(first, 1), tupleElement(first, 4), tupleElement(first, 2), tupleElement(first, 3),
					tupleElement(first, 5), tupleElement(first, 6), tupleElement(first, 7)) AS one
			FROM spans WHERE pair = 'wait' GROUP BY target
		)
	) ALL LEFT JOIN (
		SELECT target, stream, item, tid AS thread_tid, thread, end_ns FROM spans WHERE pair = 'hold'
	) USING target, stream, item
) GROUP BY target, item ORDER BY target
