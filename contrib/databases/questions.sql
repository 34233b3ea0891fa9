-- SPDX-License-Identifier: MIT
-- The ten questions, in standard SQL for DuckDB and PostgreSQL.  ask takes one by its number.

-- 1. events
-- Which events, how many: target, event, number.
SELECT target, event, count(*)
FROM events WHERE event_id <> 0
GROUP BY target, event ORDER BY target, event;

-- 2. losses
-- The rate of loss: target, day, events kept, events lost, lost per million.
SELECT target, day_of(ts_ns), sum(CASE WHEN event_id <> 0 THEN 1 ELSE 0 END), sum(lost_before),
	whole(CAST(sum(lost_before) * 1000000 AS bigint),
		CAST(sum(lost_before) + sum(CASE WHEN event_id <> 0 THEN 1 ELSE 0 END) AS bigint))
FROM events
GROUP BY target, day_of(ts_ns) ORDER BY target, day_of(ts_ns);

-- 3. durations
-- How long a cycle took: target, day, cycles, least, median, p99, longest (ns).
SELECT target, day, count(*), min(ns), percentile_disc(0.5) WITHIN GROUP (ORDER BY ns),
	percentile_disc(0.99) WITHIN GROUP (ORDER BY ns), max(ns)
FROM spans WHERE pair = 'cycle'
GROUP BY target, day ORDER BY target, day;

-- 4. longest-wait
-- The longest wait for a lock, and who had it: target, waited (ns), lock, waiter, holder.
WITH longest AS (
	SELECT target, stream, item, tid, thread, begin_ns, end_ns, ns,
		row_number() OVER (PARTITION BY target ORDER BY ns DESC, end_ns, item) AS place
	FROM spans WHERE pair = 'wait'
), held AS (
	SELECT w.target, w.ns, w.item, w.thread, coalesce(h.thread, '?') AS holder,
		-- The last to let it go while the other waited.
		row_number() OVER (PARTITION BY w.target ORDER BY h.end_ns DESC) AS place
	FROM longest w LEFT JOIN (SELECT * FROM spans WHERE pair = 'hold') h
		ON h.target = w.target AND h.stream = w.stream AND h.item = w.item AND h.tid <> w.tid
		AND h.end_ns > w.begin_ns AND h.end_ns <= w.end_ns
	WHERE w.place = 1
)
SELECT target, ns, item, thread, holder FROM held WHERE place = 1 ORDER BY target;

-- 5. busiest-thread
-- The busiest thread of each ten seconds, by events: target, beginning (s since 1970), thread, events.
SELECT target, slice * 10, thread, events
FROM (
	SELECT target, slice, thread, events,
		row_number() OVER (PARTITION BY target, slice ORDER BY events DESC, thread) AS place
	FROM (
		SELECT target, whole(ts_ns, 10000000000) AS slice, thread, count(*) AS events
		FROM events WHERE tid IS NOT NULL
		GROUP BY target, whole(ts_ns, 10000000000), thread
	) counted
) placed
WHERE place = 1 ORDER BY target, slice;

-- 6. deadlines
-- Missed deadlines: target, cycles, missed, latest (ns after the deadline; negative: in time).
SELECT target, count(*), sum(CASE WHEN late_ns > 0 THEN 1 ELSE 0 END), max(late_ns)
FROM (SELECT target, number_in(payload, 'late_ns') AS late_ns FROM events WHERE event = 'cycle_end') ends
GROUP BY target ORDER BY target;

-- 7. silence
-- The longest silence: target, how long (ns), since (ns since 1970), the event before it, events lost in it.
SELECT target, ns, since, event, lost_before
FROM (
	SELECT target, ts_ns - since AS ns, since, event, lost_before,
		row_number() OVER (PARTITION BY target ORDER BY ts_ns - since DESC, since) AS place
	FROM (
		SELECT target, ts_ns, lost_before, lag(ts_ns) OVER one AS since, lag(event) OVER one AS event
		FROM events WHERE event_id <> 0
		WINDOW one AS (PARTITION BY target, stream ORDER BY seq)
	) steps
	WHERE since IS NOT NULL
) placed
WHERE place = 1 ORDER BY target;

-- 8. rates
-- Event rates: target, events, seconds with events, most events in a second, that second (s since 1970).
SELECT target, events, seconds, most, second
FROM (
	SELECT target, second, most, sum(most) OVER (PARTITION BY target) AS events,
		count(*) OVER (PARTITION BY target) AS seconds,
		row_number() OVER (PARTITION BY target ORDER BY most DESC, second) AS place
	FROM (
		SELECT target, whole(ts_ns, 1000000000) AS second, count(*) AS most
		FROM events WHERE event_id <> 0
		GROUP BY target, whole(ts_ns, 1000000000)
	) counted
) placed
WHERE place = 1 ORDER BY target;

-- 9. holders
-- Who keeps others waiting: thread, target, times it held a lock, median, p99, longest (ns).
SELECT thread, target, count(*), percentile_disc(0.5) WITHIN GROUP (ORDER BY ns),
	percentile_disc(0.99) WITHIN GROUP (ORDER BY ns), max(ns)
FROM spans WHERE pair = 'hold'
GROUP BY thread, target ORDER BY thread, target;

-- 10. outliers
-- Which targets stand out: target, p99 of its cycle (ns), the fleet's median of that.  Over twice as long.
WITH each AS (
	SELECT target, percentile_disc(0.99) WITHIN GROUP (ORDER BY ns) AS p99
	FROM spans WHERE pair = 'cycle' GROUP BY target
), fleet AS (
	SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY p99) AS median FROM each
)
SELECT target, p99, median FROM each, fleet WHERE p99 > 2 * median ORDER BY target;
