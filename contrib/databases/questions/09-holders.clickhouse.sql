-- SPDX-License-Identifier: MIT
SELECT thread, target, length(all) AS n, all[intDiv(n * 500 + 999, 1000)], all[intDiv(n * 990 + 999, 1000)], all[n]
FROM (
	SELECT thread, target, arraySort(groupArray(ns)) AS all
	FROM spans WHERE pair = 'hold' GROUP BY thread, target
) ORDER BY thread, target
