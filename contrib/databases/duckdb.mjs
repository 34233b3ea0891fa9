// SPDX-License-Identifier: MIT
//
// duckdb.mjs load DIRECTORY              rows without their head on standard input: see load
// duckdb.mjs ask DIRECTORY FILE... [-t]  answers, columns divided by tabs; -t: times on standard error
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
const modules = process.env.PXT_DATA_MODULES || path.join(here, '../../build/data/node_modules');

// Thrown, so that what was begun is cleared away.
function give_up(text) {
	throw new Error(text);
}

function duckdb() {
	try {
		return createRequire(path.join(modules, 'x.js'))('@duckdb/node-api');
	} catch (error) {
		if (error.code !== 'MODULE_NOT_FOUND')
			throw error;
		return give_up(`DuckDB is not in ${modules}: scripts/setup data installs it`);
	}
}

const quoted = (text) => `'${text.replaceAll("'", "''")}'`;

async function rows(connection, sql) {
	return (await connection.runAndReadAll(sql)).getRows();
}

// ---- Tables ----

const macros = String.raw`CREATE MACRO whole(a, b) AS a // b;
	CREATE MACRO day_of(ts_ns) AS DATE '1970-01-01' + CAST(ts_ns // 86400000000000 AS INTEGER);
	CREATE MACRO first_field(payload) AS regexp_extract(payload, '^\{"[^"]*":("(?:[^"\\]|\\.)*"|[^,}]*)', 1);
	CREATE MACRO number_in(payload, field) AS CAST(payload ->> field AS BIGINT);`;

// The tables that the questions ask, of a directory.  pairs: which events begin and end a span.
const tables = (directory) => `CREATE VIEW events AS
	SELECT * FROM read_parquet(${quoted(`${directory}/target=*/day=*/*.parquet`)},
		hive_partitioning = true, hive_types = {'target': VARCHAR, 'day': DATE});
	CREATE TABLE pairs (pair VARCHAR, begins VARCHAR, ends VARCHAR);
	INSERT INTO pairs VALUES
		('cycle', 'cycle_begin', 'cycle_end'),
		('frame', 'frame_begin', 'frame_end'),
		('wait', 'lock_wait', 'lock_held'),
		('hold', 'lock_held', 'lock_free');`;

// ---- Loading ----

// The files that hold events of one of @streams: their names begin with the UUID.
function files_of(directory, streams) {
	const found = [];
	for (const target of fs.readdirSync(directory).filter((name) => name.startsWith('target=')))
		for (const day of fs.readdirSync(path.join(directory, target)))
			for (const name of fs.readdirSync(path.join(directory, target, day)))
				if (streams.has(name.slice(0, 36)))
					found.push(path.join(directory, target, day, name));
	return found;
}

async function take(connection) {
	await connection.run(`CREATE TEMP TABLE incoming AS
		SELECT * REPLACE (coalesce(thread, '') AS thread), day_of(ts_ns) AS day
		FROM read_csv('/dev/stdin', header = false, auto_detect = false, delim = ',', quote = '"', escape = '"',
			columns = {'target': 'VARCHAR', 'stream': 'UUID', 'seq': 'BIGINT', 'ts_ns': 'BIGINT', 'event': 'VARCHAR',
				'event_id': 'INTEGER', 'pid': 'INTEGER', 'tid': 'BIGINT', 'cpu': 'SMALLINT',
				'lost_before': 'BIGINT', 'payload': 'VARCHAR', 'thread': 'VARCHAR'})`);
	const [[read]] = await rows(connection, 'SELECT count(*) FROM incoming');
	// One log may have come twice through one pipe.
	const [[twice]] = await rows(connection, `SELECT count(*) FROM
		(SELECT stream, seq FROM incoming GROUP BY stream, seq HAVING count(*) > 1)`);
	if (twice > 0n)
		await connection.run('CREATE OR REPLACE TEMP TABLE incoming AS SELECT DISTINCT * FROM incoming');
	return { read, twice: twice > 0n };
}

// Leaves out what is there already, and refuses what contradicts it.
async function compare(connection, directory, twice) {
	const columns = 'target, stream, seq, ts_ns, event, lost_before';
	const streams = await rows(connection, 'SELECT DISTINCT stream::VARCHAR FROM incoming');
	const files = files_of(directory, new Set(streams.map(([stream]) => stream)));
	const there = files.length === 0 ? 'incoming WHERE false'
		: `read_parquet([${files.map(quoted).join()}], hive_partitioning = true, hive_types = {'target': VARCHAR})`;
	await connection.run(`CREATE TEMP TABLE present AS SELECT ${columns} FROM ${there}`);
	const odd = await rows(connection, `SELECT i.stream::VARCHAR, i.seq, p.target
		FROM incoming i JOIN (SELECT * FROM present
			${twice ? `UNION ALL SELECT ${columns} FROM incoming` : ''}) p ON p.stream = i.stream AND p.seq = i.seq
		WHERE (i.target, i.ts_ns, i.event, i.lost_before) <> (p.target, p.ts_ns, p.event, p.lost_before) LIMIT 1`);
	if (odd.length > 0)
		give_up(`stream ${odd[0][0]}: event ${odd[0][1]} is there already, from target ${odd[0][2]}, and differs\n` +
			'  nothing was loaded; was the log exported with other filters, or as another target?');
	await connection.run(`DELETE FROM incoming USING present
		WHERE incoming.stream = present.stream AND incoming.seq = present.seq`);
}

// Files appear whole, under names that no other load can have taken.
function publish(work, directory) {
	for (const name of fs.readdirSync(work, { recursive: true })) {
		const from = path.join(work, name);
		if (!name.endsWith('.parquet'))
			continue;
		const [target, day, stream, first, file] = name.split(path.sep);
		const to = path.join(directory, target, day);
		const number = file.replace(/[^0-9]/g, '');
		fs.mkdirSync(to, { recursive: true });
		fs.linkSync(from, path.join(to, `${stream.slice(5)}-${first.slice(6)}-${number}.parquet`));
	}
}

async function load(connection, directory) {
	const work = fs.mkdtempSync(path.join(directory, '.loading-'));
	try {
		// What does not fit into memory goes where the rows are going, not to wherever this was called.
		await connection.run(`SET temp_directory = ${quoted(path.join(work, 'memory'))}`);
		const { read, twice } = await take(connection);
		await compare(connection, directory, twice);
		const [[fresh, lost]] = await rows(connection, 'SELECT count(*), coalesce(sum(lost_before), 0) FROM incoming');
		if (fresh > 0n) {
			await connection.run(`COPY (
				SELECT *, stream AS name, min(seq) OVER (PARTITION BY target, stream, day) AS first
				FROM incoming ORDER BY target, stream, seq)
				TO ${quoted(work)} (FORMAT parquet, COMPRESSION zstd, OVERWRITE_OR_IGNORE,
					PARTITION_BY (target, day, name, first))`);
			publish(work, directory);
		}
		process.stdout.write(`${read} rows: ${fresh} loaded (${lost} events lost), ${read - fresh} were there already\n`);
	} finally {
		fs.rmSync(work, { recursive: true });
	}
}

// ---- Asking ----

const plain = (value) => (value === null ? '' : String(value));

async function ask(connection, files, timed) {
	for (const file of files) {
		const begin = process.hrtime.bigint();
		const answer = await rows(connection, fs.readFileSync(file, 'utf8'));
		if (timed)
			process.stderr.write(`Time: ${Number(process.hrtime.bigint() - begin) / 1e6} ms\n`);
		if (files.length > 1)
			process.stdout.write(`# ${path.basename(file).split('.')[0]}\n`);
		for (const row of answer)
			process.stdout.write(row.map(plain).join('\t') + '\n');
	}
}

async function main(verb, directory, ...rest) {
	const { DuckDBInstance } = duckdb();
	const connection = await (await DuckDBInstance.create(':memory:')).connect();
	await connection.run(macros);
	if (verb === 'load')
		return load(connection, directory);
	if (!fs.existsSync(directory) || !fs.readdirSync(directory).some((name) => name.startsWith('target=')))
		give_up(`no events in ${directory}: "load parquet" puts them there`);
	await connection.run(tables(directory));
	await connection.run(fs.readFileSync(path.join(here, 'spans.sql'), 'utf8'));
	return ask(connection, rest.filter((word) => word !== '-t'), rest.includes('-t'));
}

main(...process.argv.slice(2)).catch((error) => {
	process.stderr.write(`duckdb: ${error.message}\n`);
	process.exitCode = 1;
});
