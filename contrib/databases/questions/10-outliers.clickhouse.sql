-- SPDX-License-Identifier: MIT
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
