-- SPDX-License-Identifier: MIT
-- The rate of loss: target, day, events kept, events lost, lost per million.
SELECT target, day_of(ts_ns), sum(CASE WHEN event_id <> 0 THEN 1 ELSE 0 END), sum(lost_before),
	whole(CAST(sum(lost_before) * 1000000 AS bigint),
		CAST(sum(lost_before) + sum(CASE WHEN event_id <> 0 THEN 1 ELSE 0 END) AS bigint))
FROM events
GROUP BY target, day_of(ts_ns) ORDER BY target, day_of(ts_ns);
