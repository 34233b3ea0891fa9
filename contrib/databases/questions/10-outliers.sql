-- SPDX-License-Identifier: MIT
-- Which targets stand out: target, p99 of its cycle (ns), the fleet's median of that.  Over twice as long.
WITH each AS (
	SELECT target, percentile_disc(0.99) WITHIN GROUP (ORDER BY ns) AS p99
	FROM spans WHERE pair = 'cycle' GROUP BY target
), fleet AS (
	SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY p99) AS median FROM each
)
SELECT target, p99, median FROM each, fleet WHERE p99 > 2 * median ORDER BY target;
