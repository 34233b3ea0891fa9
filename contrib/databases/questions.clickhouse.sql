-- SPDX-License-Identifier: MIT
-- The ten questions for ClickHouse, whose release of 2018 has no window functions.  ask takes one by its number.

-- 1. events
SELECT target, event, count()
FROM events WHERE event_id != 0
GROUP BY target, event ORDER BY target, event

-- 2. losses
SELECT target, day, countIf(event_id != 0) AS kept, sum(lost_before) AS lost, intDiv(lost * 1000000, lost + kept)
FROM events
GROUP BY target, day ORDER BY target, day

-- 3. durations
-- Nearest rank, as pxtrace has it: this release's quantileExact takes the next value.
SELECT target, day, length(all) AS n, all[1], all[intDiv(n * 500 + 999, 1000)], all[intDiv(n * 990 + 999, 1000)], all[n]
FROM (
	SELECT target, day, arraySort(groupArray(ns)) AS all
	FROM spans WHERE pair = 'cycle' GROUP BY target, day
) ORDER BY target, day

-- 4. longest-wait
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

-- 5. busiest-thread
SELECT target, slice * 10, thread, events
FROM (
	SELECT target, intDiv(ts_ns, 10000000000) AS slice, thread, count() AS events
	FROM events WHERE tid IS NOT NULL
	GROUP BY target, slice, thread ORDER BY target, slice, events DESC, thread
	LIMIT 1 BY target, slice
)

-- 6. deadlines
SELECT target, count(), countIf(late_ns > 0), max(late_ns)
FROM (SELECT target, visitParamExtractInt(payload, 'late_ns') AS late_ns FROM events WHERE event = 'cycle_end')
GROUP BY target ORDER BY target

-- 7. silence
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

-- 8. rates
SELECT target, sum(most), count(), max(most), tupleElement(arraySort(groupArray(tuple(-toInt64(most), second)))[1], 2)
FROM (
	SELECT target, intDiv(ts_ns, 1000000000) AS second, count() AS most
	FROM events WHERE event_id != 0
	GROUP BY target, second
) GROUP BY target ORDER BY target

-- 9. holders
SELECT thread, target, length(all) AS n, all[intDiv(n * 500 + 999, 1000)], all[intDiv(n * 990 + 999, 1000)], all[n]
FROM (
	SELECT thread, target, arraySort(groupArray(ns)) AS all
	FROM spans WHERE pair = 'hold' GROUP BY thread, target
) ORDER BY thread, target

-- 10. outliers
SELECT tupleElement(one, 1), tupleElement(one, 2), median
FROM (
	SELECT arraySort(groupArray(tuple(target, p99))) AS each, arraySort(groupArray(p99)) AS all,
		all[intDiv(length(all) * 500 + 999, 1000)] AS median
	FROM (
		SELECT target, arraySort(groupArray(ns)) AS cycles, cycles[intDiv(length(cycles) * 990 + 999, 1000)] AS p99
		FROM spans WHERE pair = 'cycle' GROUP BY target
	)
) ARRAY JOIN each AS one
WHERE tupleElement(one, 2) > 2 * median ORDER BY tupleElement(one, 1)
