-- SPDX-License-Identifier: MIT
-- The tables that `load clickhouse` fills and the questions ask; plain enough for the release of 2018 that Debian
-- has (18.16: no window functions, no WITH before a subquery).  Harmless where it is there already.
CREATE TABLE IF NOT EXISTS events (
	target String,
	stream UUID,
	seq Int64,
	ts_ns Int64,
	day Date,
	event String,
	event_id Int32,
	pid Int32,
	tid Nullable(Int64),
	cpu Nullable(Int16),
	lost_before Int64,
	payload String,
	thread String
) ENGINE = ReplacingMergeTree() PARTITION BY toYYYYMM(day) ORDER BY (target, stream, seq);

-- Which events begin and end a span: an event may do one for each of several pairs.
CREATE TABLE IF NOT EXISTS roles (event String, pair String, begins UInt8)
	ENGINE = ReplacingMergeTree() ORDER BY (event, pair, begins);
INSERT INTO roles SELECT event, pair, begins FROM (
	SELECT 'cycle_begin' AS event, 'cycle' AS pair, 1 AS begins UNION ALL
	SELECT 'cycle_end', 'cycle', 0 UNION ALL
	SELECT 'frame_begin', 'frame', 1 UNION ALL
	SELECT 'frame_end', 'frame', 0 UNION ALL
	SELECT 'lock_wait', 'wait', 1 UNION ALL
	SELECT 'lock_held', 'wait', 0 UNION ALL
	SELECT 'lock_held', 'hold', 1 UNION ALL
	SELECT 'lock_free', 'hold', 0
) WHERE (event, pair, begins) NOT IN (SELECT event, pair, begins FROM roles);

-- From a begin event to its end event, as in spans.sql.  From the inside: each stream's events in
-- order, with the number of losses before each; their steps for each thread and first field, in order;
-- of two neighbours those that are begin and end with no loss between.  No lambda takes an array from
-- outside: this release copies it for every element.
CREATE VIEW IF NOT EXISTS spans AS
SELECT pair, target, stream, tid, thread, item,
	tupleElement(span, 1) AS begin_ns, tupleElement(span, 2) AS end_ns, end_ns - begin_ns AS ns,
	toDate(intDiv(end_ns, 86400000000000)) AS day
FROM (
	SELECT pair, target, stream, tid, any(thread) AS thread, item,
		arraySort(groupArray(tuple(seq, ts_ns, begins, gaps))) AS steps,
		arrayFilter(x -> tupleElement(x, 3) = 1, arrayMap((a, b) -> tuple(tupleElement(a, 2), tupleElement(b, 2),
			tupleElement(a, 3) = 1 AND tupleElement(b, 3) = 0 AND tupleElement(a, 4) = tupleElement(b, 4)),
			arrayPopBack(steps), arrayPopFront(steps))) AS found
	FROM (
		SELECT target, stream, gaps, tupleElement(row, 1) AS seq, tupleElement(row, 3) AS ts_ns,
			tupleElement(row, 4) AS event, tupleElement(row, 5) AS tid, tupleElement(row, 6) AS thread,
			tupleElement(row, 7) AS item
		FROM (
			SELECT target, stream, arraySort(groupArray(tuple(seq, lost_before > 0, ts_ns, event, ifNull(tid, 0), thread,
				extract(payload, '^\\{"[^"]*":("(?:[^"\\\\]|\\\\.)*"|[^,}]*)')))) AS rows,
				arrayCumSum(arrayMap(x -> tupleElement(x, 2), rows)) AS lost
			FROM events WHERE lost_before > 0 OR event IN (SELECT event FROM roles)
			GROUP BY target, stream
		) ARRAY JOIN rows AS row, lost AS gaps
	) ALL INNER JOIN (SELECT DISTINCT event, pair, begins FROM roles) USING event
	GROUP BY pair, target, stream, tid, item
) ARRAY JOIN found AS span;
