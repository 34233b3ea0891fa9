-- SPDX-License-Identifier: MIT
-- Who keeps others waiting: thread, target, times it held a lock, median, p99, longest (ns).
SELECT thread, target, count(*), percentile_disc(0.5) WITHIN GROUP (ORDER BY ns),
	percentile_disc(0.99) WITHIN GROUP (ORDER BY ns), max(ns)
FROM spans WHERE pair = 'hold'
GROUP BY thread, target ORDER BY thread, target;
