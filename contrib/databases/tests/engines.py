# SPDX-License-Identifier: MIT
"""Databases of one's own for a test: in a temporary folder, heard by nobody else, gone afterwards.

Each engine is a context manager.  PostgreSQL listens on a socket in a folder that only its user can
enter, ClickHouse on a port of the loopback with a password made for the run.  A server dies with this
program even when that is killed (parent death signal), and is stopped by its own process id.
"""
import contextlib
import glob
import json
import os
import pathlib
import pwd
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
SCRIPTS = ROOT / "contrib/databases"


class Failed(Exception):
    """What went wrong, for a person."""


def output(command, **options):
    """What a command prints; its error messages when it fails."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        raise Failed(f"{command[0]}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def with_parent(signal_name):
    """Words in front of a server's command that let it end with us."""
    return ["setpriv", "--pdeathsig", signal_name] if shutil.which("setpriv") else []


class Engine:
    """What all three have in common; name is the one that contrib/databases/ask knows."""

    name = label = ""

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="pxt"))
        self.server = None
        try:
            self.start()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def stop(self):
        if self.server and self.server.poll() is None:
            self.server.send_signal(self.stop_signal)
            try:
                self.server.wait(30)
            except subprocess.TimeoutExpired:
                self.server.kill()
                self.server.wait()
        self.server = None

    def __exit__(self, *_):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    stop_signal = signal.SIGTERM
    environment = os.environ
    # A target's rows as text, in order; see rows().
    all_rows = """SELECT stream, seq, ts_ns, event, event_id, pid, coalesce(CAST(tid AS varchar), ''),
        coalesce(CAST(cpu AS varchar), ''), lost_before, payload, coalesce(thread, '')
        FROM events WHERE target = 'TARGET' ORDER BY stream, seq"""

    def start(self):
        """Makes the engine ready."""

    def wait_until_up(self, command):
        for _ in range(200):
            if self.server.poll() is not None:
                break
            with contextlib.suppress(subprocess.TimeoutExpired):
                if subprocess.run(command, capture_output=True, check=False, env=self.environment, timeout=5).returncode == 0:
                    return
            time.sleep(0.1)
        said = "".join(path.read_text(errors="replace")[-1500:] for path in self.folder.glob("*.log"))
        raise Failed(f"{self.label} did not start:\n{said}")

    def load_command(self):
        return [str(SCRIPTS / "load"), self.name, *self.where()]

    def load(self, rows):
        """Pipes an open file or bytes into load; (exit status, what it said)."""
        given = {"input": rows} if isinstance(rows, bytes) else {"stdin": rows}
        done = subprocess.run(self.load_command(), **given, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=self.environment, check=False)
        return done.returncode, done.stdout.decode(errors="replace").strip()

    def run_ask(self, *words):
        done = subprocess.run([str(SCRIPTS / "ask"), *map(str, words)], capture_output=True, text=True,
                              env=self.environment, check=False)
        if done.returncode != 0 or "rror" in done.stderr:
            raise Failed(f"{self.label}: {done.stderr}")
        return done

    def ask(self, question, timed=False):
        """The answer, and the milliseconds if asked for."""
        done = self.run_ask(*(["-t"] if timed else []), self.name, " ".join(self.where()), question)
        return (done.stdout, self.milliseconds(done.stderr)) if timed else done.stdout

    def ask_all(self):
        """The answers to the ten questions, by their numbers."""
        said = self.run_ask(self.name, " ".join(self.where()), *range(1, 11)).stdout
        parts = re.split(r"^# (\d+)-.*\n", said, flags=re.MULTILINE)
        return {int(number): answer for number, answer in zip(parts[1::2], parts[2::2])}

    def rows(self, target):
        """All rows of a target, as they would stand in the table that pxtrace writes."""
        path = self.folder / "rows.sql"
        path.write_text(self.all_rows.replace("TARGET", target))
        return [line.split("\t") for line in self.ask(path).splitlines()]

    def milliseconds(self, said):
        return float(said.split("Time:")[1].split()[0])

    def one(self, sql):
        """The single value that a statement gives."""
        path = self.folder / "one.sql"
        path.write_text(sql)
        return self.ask(path).strip()


class Parquet(Engine):
    name, label = "parquet", "DuckDB, Parquet"

    @staticmethod
    def missing():
        modules = pathlib.Path(os.environ.get("PXT_DATA_MODULES", ROOT / "build/data/node_modules"))
        if not shutil.which("node"):
            return "no node"
        if not (modules / "@duckdb/node-api").is_dir():
            return f"no @duckdb/node-api in {modules}"
        return None if shutil.which("flock") else "no flock"

    def where(self):
        return [str(self.folder / "lake")]

    def version(self):
        return "DuckDB " + self.one("SELECT version()").lstrip("v")

    def stored(self):
        return sum(path.stat().st_size for path in self.folder.glob("lake/**/*.parquet"))

    def empty(self):
        shutil.rmtree(self.folder / "lake", ignore_errors=True)


def postgres_programs():
    """The folder of initdb and postgres: Debian keeps them out of PATH."""
    folders = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda name: int(name.split("/")[4]), reverse=True)
    found = [folder for folder in folders if int(folder.split("/")[4]) >= 15]
    if found and os.path.exists(found[0] + "/initdb"):
        return pathlib.Path(found[0])
    initdb = shutil.which("initdb")
    return pathlib.Path(initdb).parent if initdb else None


def other_user():
    """Somebody who is not root: PostgreSQL refuses root."""
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    return None


class Postgres(Engine):
    name, label = "postgres", "PostgreSQL"
    stop_signal = signal.SIGINT  # "fast": ends its sessions, leaves the data sound

    @staticmethod
    def missing():
        if not postgres_programs() or not shutil.which("psql"):
            return "no PostgreSQL 15 or later"
        if os.getuid() == 0 and not (shutil.which("setpriv") and other_user()):
            return "root, but neither setpriv nor another user: PostgreSQL refuses root"
        return None

    def start(self):
        programs, data = postgres_programs(), self.folder / "postgres"
        data.mkdir(mode=0o700)
        words = with_parent("INT")
        if os.getuid() == 0:
            user = other_user()
            os.chmod(self.folder, 0o711)
            os.chown(data, user.pw_uid, user.pw_gid)
            words += [f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
        output([*words, programs / "initdb", "-D", data / "cluster", "-U", "ptrace", "-A", "trust", "-E", "UTF8",
                "--locale=C", "--no-sync"], cwd=data)
        with open(self.folder / "server.log", "wb") as log:
            self.server = subprocess.Popen(
                [*words, programs / "postgres", "-D", data / "cluster", "-c", "listen_addresses=",
                 "-c", f"unix_socket_directories={data}", "-c", "unix_socket_permissions=0700",
                 "-c", "shared_buffers=256MB", "-c", "work_mem=64MB", "-c", "max_wal_size=4GB"],
                cwd=data, stdout=log, stderr=log)
        self.environment = {**os.environ, "PGHOST": str(data), "PGUSER": "ptrace", "PGDATABASE": "postgres"}
        self.wait_until_up(["psql", "-X", "-c", "SELECT 1"])

    def where(self):
        return []

    def version(self):
        return "PostgreSQL " + self.one("SHOW server_version").split()[0]

    def stored(self):
        return int(self.one("SELECT pg_total_relation_size('events')"))

    def empty(self):
        self.one("DROP TABLE IF EXISTS events CASCADE")


def clickhouse_server():
    return shutil.which("clickhouse-server", path="/usr/sbin:" + os.environ["PATH"])


def free_port():
    """Below what the system gives out by itself, so that hardly anybody takes it before the server does."""
    while True:
        port = 10000 + secrets.randbelow(20000)
        with socket.socket() as free, contextlib.suppress(OSError):
            free.bind(("127.0.0.1", port))
            return port


class ClickHouse(Engine):
    name, label = "clickhouse", "ClickHouse"
    all_rows = """SELECT stream, seq, ts_ns, event, event_id, pid, ifNull(toString(tid), ''),
        ifNull(toString(cpu), ''), lost_before, payload, thread
        FROM events WHERE target = 'TARGET' ORDER BY stream, seq FORMAT TabSeparatedRaw"""

    @staticmethod
    def missing():
        both = shutil.which("clickhouse-client") and clickhouse_server()
        return None if both else "no clickhouse-server and clickhouse-client"

    def start(self):
        # Somebody else may take the port between our look and the server's.
        for last in (False, False, True):
            try:
                return self.start_on(free_port())
            except Failed:
                self.stop()
                if last:
                    raise

    def start_on(self, port):
        folder, password = self.folder, secrets.token_hex(16)
        (folder / "config.xml").write_text(f"""<yandex>
<logger><level>warning</level><log>{folder}/server.log</log><errorlog>{folder}/errors.log</errorlog></logger>
<listen_host>127.0.0.1</listen_host><tcp_port>{port}</tcp_port><timezone>UTC</timezone>
<path>{folder}/data/</path><tmp_path>{folder}/tmp/</tmp_path><user_files_path>{folder}/files/</user_files_path>
<format_schema_path>{folder}/formats/</format_schema_path><mark_cache_size>67108864</mark_cache_size>
<users_config>{folder}/users.xml</users_config><default_profile>default</default_profile>
<default_database>default</default_database></yandex>
""")
        (folder / "users.xml").write_text(f"""<yandex><profiles><default/></profiles><quotas><default/></quotas>
<users><default><password>{password}</password><networks><ip>127.0.0.1</ip></networks>
<profile>default</profile><quota>default</quota></default></users></yandex>
""")
        # Not on the command line, where every user of the machine could read it.
        (folder / "client.xml").write_text(
            f"<config><host>127.0.0.1</host><port>{port}</port><password>{password}</password></config>\n")
        with open(folder / "output.log", "wb") as log:
            self.server = subprocess.Popen([*with_parent("TERM"), clickhouse_server(), f"--config-file={folder}/config.xml"],
                                           cwd=folder, stdout=log, stderr=log)
        self.wait_until_up(["clickhouse-client", *self.where(), "--query", "SELECT 1"])

    def where(self):
        return ["--config-file", str(self.folder / "client.xml")]

    def milliseconds(self, said):
        return float(said.split()[-1]) * 1000

    def version(self):
        return "ClickHouse " + self.one("SELECT version()")

    def stored(self):
        return int(self.one("SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND table = 'events'"))

    def empty(self):
        self.one("DROP TABLE IF EXISTS events")


ENGINES = (Parquet, Postgres, ClickHouse)


def check_lock_file():
    """The lock file pins every package by version and checksum, and leaves it open where it is fetched from."""
    text = (SCRIPTS / "package-lock.json").read_text(encoding="utf-8")
    packages = {name: entry for name, entry in json.loads(text)["packages"].items() if name}
    wrong = [name for name, entry in packages.items() if not entry.get("version") or not entry.get("integrity")]
    if wrong or not packages or "://" in text or '"resolved"' in text:
        sys.exit(f"package-lock.json: without version or checksum: {wrong}; or an address "
                 "(npm's omit-lockfile-registry-resolved)")


if __name__ == "__main__" and "--check-lock-file" in sys.argv:
    check_lock_file()
