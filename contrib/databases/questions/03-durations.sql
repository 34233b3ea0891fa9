-- SPDX-License-Identifier: MIT
-- How long a cycle took: target, day, cycles, least, median, p99, longest (ns).
SELECT target, day, count(*), min(ns), percentile_disc(0.5) WITHIN GROUP (ORDER BY ns),
	percentile_disc(0.99) WITHIN GROUP (ORDER BY ns), max(ns)
FROM spans WHERE pair = 'cycle'
GROUP BY target, day ORDER BY target, day;
