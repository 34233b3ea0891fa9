-- SPDX-License-Identifier: MIT
-- Which events, how many: target, event, number.
SELECT target, event, count(*)
FROM events WHERE event_id <> 0
GROUP BY target, event ORDER BY target, event;
