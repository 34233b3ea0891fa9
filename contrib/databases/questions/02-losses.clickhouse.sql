-- SPDX-License-Identifier: MIT
SELECT target, day, countIf(event_id != 0) AS kept, sum(lost_before) AS lost, intDiv(lost * 1000000, lost + kept)
FROM events
GROUP BY target, day ORDER BY target, day
