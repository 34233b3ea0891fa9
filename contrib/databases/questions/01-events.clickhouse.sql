-- SPDX-License-Identifier: MIT
SELECT target, event, count()
FROM events WHERE event_id != 0
GROUP BY target, event ORDER BY target, event
