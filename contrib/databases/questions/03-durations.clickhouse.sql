-- SPDX-License-Identifier: MIT
-- Nearest rank, as pxtrace has it: this release's quantileExact takes the next value.
SELECT target, day, length(all) AS n, all[1], all[intDiv(n * 500 + 999, 1000)], all[intDiv(n * 990 + 999, 1000)], all[n]
FROM (
	SELECT target, day, arraySort(groupArray(ns)) AS all
	FROM spans WHERE pair = 'cycle' GROUP BY target, day
) ORDER BY target, day
