-- SPDX-License-Identifier: MIT
-- Missed deadlines: target, cycles, missed, latest (ns after the deadline; negative: in time).
SELECT target, count(*), sum(CASE WHEN late_ns > 0 THEN 1 ELSE 0 END), max(late_ns)
FROM (SELECT target, number_in(payload, 'late_ns') AS late_ns FROM events WHERE event = 'cycle_end') ends
GROUP BY target ORDER BY target;
