-- SPDX-License-Identifier: MIT
SELECT target, count(), countIf(late_ns > 0), max(late_ns)
FROM (SELECT target, visitParamExtractInt(payload, 'late_ns') AS late_ns FROM events WHERE event = 'cycle_end')
GROUP BY target ORDER BY target
