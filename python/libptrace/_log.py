# SPDX-License-Identifier: MIT
"""_log.py - a log: its events one by one or in columns, and what it knows beside them."""
from __future__ import annotations

import errno
import os
import struct
import sys
import warnings
from array import array
from ctypes import byref, c_int, c_size_t, c_uint, c_ulong, create_string_buffer, sizeof
from ctypes import string_at
from functools import partial
from itertools import compress
from typing import (Any, Dict, Iterator, List, NamedTuple, NoReturn, Optional, Sequence, Tuple,
                    Union)

from . import _native
from ._native import EventView, library

Path = Union[str, "os.PathLike[str]"]

#: Events of one call of the library: more than a block has.
_ROOM = 4096
_VIEW = sizeof(EventView)


class LogError(OSError):
    """A log could not be opened or read.  @strerror is the library's reason, @offset the byte."""

    def __init__(self, number: int, reason: str, path: str, offset: Optional[int] = None) -> None:
        super().__init__(number, reason, path)
        self.offset = offset

    def __str__(self) -> str:
        at = "" if self.offset is None else f" (byte {self.offset})"
        return f"{self.filename}: {self.strerror}{at}"


class LogWarning(UserWarning):
    """Something of what was recorded is missing."""


class LossWarning(LogWarning):
    """Records were lost: they are not in the log."""


class DamageWarning(LogWarning):
    """A part of the log is damaged, and was passed over."""


class IncompleteWarning(LogWarning):
    """The log has no end, or is damaged: it is read as far as it goes."""


class Thread(NamedTuple):
    """A thread of a log.  @name may be empty, @tid 0, where nobody recorded them."""
    entry: int
    name: str
    tid: int
    pid: int
    pthread: int

    def __str__(self) -> str:
        return self.name or (str(self.tid) if self.tid else f"pthread {self.pthread:#x}")


class Module(NamedTuple):
    """A piece of program text that was in memory."""
    path: str
    base: int
    low: int
    high: int
    build_id: bytes


class Note(NamedTuple):
    """What somebody wanted to be in the log."""
    name: str
    text: str


class Field(NamedTuple):
    """A field of a type's data.  @code is struct's and array's; None: text.  @bytes 0: the rest."""
    name: str
    code: Optional[str]
    bytes: int
    offset: int


class Info(NamedTuple):
    """What a log says about itself.  Times: nanoseconds since 1970; 0: unknown."""
    uuid: bytes
    format: Tuple[int, int]
    complete: bool
    pid: int
    executable: str
    host: str
    system: str
    start: int
    end: int
    lost: int
    written: int
    clock_hz: int
    signal: int


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "backslashreplace")


def _value_text(raw: bytes) -> str:
    return _text(raw.rstrip(b"\0"))


_CODES = {_native.FIELD_UNSIGNED: " BH I   Q", _native.FIELD_HEX: " BH I   Q",
          _native.FIELD_SIGNED: " bh i   q", _native.FIELD_FLOAT: "    f   d"}


class Type:
    """An event type of a log: @id, @name, @format (its description, or "") and @fields."""

    def __init__(self, number: int, name: str, description: bytes) -> None:
        self.id = number
        self.name = name
        self.format = _text(description)
        self._description = description
        self.fields: Tuple[Field, ...] = tuple(self._walk()) if description else ()
        fixed = [one for one in self.fields if one.bytes]
        self._struct = struct.Struct("=" + "".join(one.code or f"{one.bytes}s" for one in fixed))
        self._names = [one.name for one in self.fields]
        self._texts = [one.name for one in self.fields if one.code is None]
        self._tail = len(fixed) < len(self.fields)

    def __repr__(self) -> str:
        return f"Type({self.id}, {self.name!r}, {self.format!r})"

    def _walk(self) -> Iterator[Field]:
        found = (_native.Field * _native.FIELDS_MAX)()
        count = c_size_t(0)
        library.posix_trace_fields_np(self._description, found, sizeof(_native.Field),
                                      _native.FIELDS_MAX, byref(count))
        for field in found[:count.value]:
            code = None
            if field.posix_kind_np != _native.FIELD_TEXT:
                code = _CODES[field.posix_kind_np][field.posix_bytes_np]
            yield Field(_text(field.posix_name_np), code, field.posix_bytes_np,
                        field.posix_offset_np)

    def decode(self, data: bytes) -> Dict[str, Any]:
        """The fields of one event's data, by name; those that are missing in it are left out."""
        size = self._struct.size
        if len(data) < size:
            return self._decode_cut(data)
        values: List[Any] = list(self._struct.unpack_from(data))
        if self._tail:
            values.append(data[size:])
        result = dict(zip(self._names, values))
        for name in self._texts:
            result[name] = _value_text(result[name])
        return result

    def _decode_cut(self, data: bytes) -> Dict[str, Any]:
        result: Dict[str, Any] = {}
        for one in self.fields:
            piece = data[one.offset:one.offset + one.bytes]
            if not one.bytes or len(piece) < one.bytes:
                break
            result[one.name] = (struct.unpack("=" + one.code, piece)[0] if one.code
                                else _value_text(piece))
        return result

    def message(self, data: bytes) -> Optional[str]:
        """The message of the description with the event's fields; None: it has none."""
        room = create_string_buffer(16384)
        if library.posix_trace_text_np(self._description, data, len(data), 0, room, len(room)):
            return None
        return _text(room.value)


class Event:
    """One event.

    time         nanoseconds since 1970
    type, name   its Type, and that one's name
    thread       a Thread; None: the log does not know it
    pid, cpu     cpu is -1 where it was not recorded
    fields       of its data, by name ({} for a type without description)
    data         the bytes themselves
    cut          its data was longer when it was recorded
    lost_before  records lost directly before it
    number       of the record in the stream's life
    ticks        the counter as the trace point read it
    address      of the trace point in the program; 0: not recorded
    """
    __slots__ = ("time", "type", "thread", "pid", "cpu", "data", "cut", "lost_before", "number",
                 "ticks", "address")
    time: int
    type: Type
    thread: Optional[Thread]
    pid: int
    cpu: int
    data: bytes
    cut: bool
    lost_before: int
    number: int
    ticks: int
    address: int

    @property
    def name(self) -> str:
        return self.type.name

    @property
    def fields(self) -> Dict[str, Any]:
        return self.type.decode(self.data)

    @property
    def message(self) -> Optional[str]:
        """The text that the description makes of the fields; None: it makes none."""
        return self.type.message(self.data)

    def __repr__(self) -> str:
        return f"<{self.time} {self.name} {self.thread} {self.fields or self.data!r}>"


#: Columns of events, and the member and the code of array that each is.
_COLUMNS = {"time": ("posix_ns_np", "q"), "type": ("posix_event_id_np", "I"),
            "thread": ("posix_thread_entry_np", "I"), "pid": ("posix_pid_np", "i"),
            "cpu": ("posix_cpu_np", "h"), "cut": ("posix_cut_np", "B"),
            "lost_before": ("posix_lost_before_np", "Q"), "number": ("posix_number_np", "Q"),
            "ticks": ("posix_ticks_np", "Q"), "bytes": ("posix_bytes_np", "I")}
_WORD = {4: "I", 8: "Q"}
_COLUMNS["address"] = ("posix_prog_address_np", _WORD[EventView.posix_prog_address_np.size])


class Columns(Dict[str, Any]):
    """Columns of events by name: numpy arrays where numpy is there, else array.array.

    Texts, data, and fields that are missing in some event (None there) are lists.
    """

    def __len__(self) -> int:
        """How many columns there are; @rows says how many events."""
        return super().__len__()

    @property
    def rows(self) -> int:
        return len(next(iter(self.values()), ()))

    def frame(self) -> Any:
        """A pandas.DataFrame of them; "time" as UTC."""
        import pandas  # pylint: disable=import-outside-toplevel
        frame = pandas.DataFrame(dict(self))
        if "time" in frame:
            frame["time"] = pandas.to_datetime(frame["time"], unit="ns", utc=True)
        return frame

    def to_numpy(self) -> None:
        """Arrays become numpy's, of the same memory."""
        import numpy  # pylint: disable=import-outside-toplevel
        for name, column in self.items():
            if isinstance(column, array):
                self[name] = numpy.frombuffer(column, dtype=column.typecode)


def _has_numpy() -> bool:
    try:
        import numpy  # noqa: F401  pylint: disable=import-outside-toplevel,unused-import
    except ImportError:
        return False
    return True


class _Reason:
    """Where the library says why a log was refused."""

    def __init__(self) -> None:
        self.words = _native.LogError()

    def fail(self, number: int, path: str) -> NoReturn:
        reason = _text(self.words.posix_reason_np)
        if not reason:
            raise LogError(number, os.strerror(number), path)
        raise LogError(number, reason, path, self.words.posix_offset_np)


class Log:
    """An opened log: see open().  One thread at a time uses it, and one iteration."""

    def __init__(self, path: Path, strict: bool = False) -> None:
        self._trid = c_ulong(0)
        self._path = os.fspath(path)
        self._raw = bytearray(_ROOM * _VIEW)
        self._views = (EventView * _ROOM).from_buffer(self._raw)
        self._types: Dict[int, Type] = {}
        self._threads: Dict[int, Thread] = {}
        self._lost_told = 0
        self._pass = 0
        self._open(strict)
        if self.info.complete:
            self._tell_lost(self.info.lost)

    def _open(self, strict: bool) -> None:
        reason = _Reason()
        descriptor = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            trid = c_ulong(0)
            error = self._open_as(descriptor, 0, trid, reason)
            if error == errno.EINVAL and not strict:
                second = _Reason()
                error = self._open_as(descriptor, _native.OPEN_GROWING, trid, second)
                if error == 0:
                    self._warn(IncompleteWarning, _text(reason.words.posix_reason_np),
                               reason.words.posix_offset_np)
                else:
                    reason = second
        finally:
            os.close(descriptor)
        if error:
            reason.fail(error, self._path)
        self._trid = trid

    @staticmethod
    def _open_as(descriptor: int, flags: int, trid: c_ulong, reason: _Reason) -> int:
        return library.posix_trace_log_open_np(byref(c_int(descriptor)), 1, flags, byref(trid),
                                               byref(reason.words), sizeof(reason.words))

    def _warn(self, kind: type, text: str, offset: Optional[int] = None) -> None:
        at = "" if offset is None else f" (byte {offset})"
        # The line that is named is the first one outside of this file.
        level = 1
        frame = sys._getframe()  # pylint: disable=protected-access
        while frame.f_back and frame.f_code.co_filename == __file__:
            frame = frame.f_back
            level += 1
        warnings.warn(kind(f"{self._path}: {text}{at}"), stacklevel=level)

    def _tell_lost(self, lost: int) -> None:
        """Each loss once, in the call that learns of it."""
        if lost > self._lost_told:
            self._lost_told = lost
            self._warn(LossWarning, f"{lost} records were lost: they are not in the log")

    def _need(self) -> c_ulong:
        if self._trid.value == 0:
            raise ValueError("the log is closed")
        return self._trid

    def close(self) -> None:
        """Gives back what the library holds.  A second call has no effect."""
        if self._trid.value:
            library.posix_trace_close(self._trid)
            self._trid = c_ulong(0)

    def __enter__(self) -> "Log":
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_trid", None) is not None:
            self.close()

    # ---- What the log knows ----

    @property
    def info(self) -> Info:
        trid = self._need()
        error, told = library.get(
            _native.LogInfo, lambda info, size: library.posix_trace_log_getinfo_np(trid, info, size))
        self._fail(error)
        return Info(bytes(told.posix_uuid_np),
                    (told.posix_format_major_np, told.posix_format_minor_np),
                    bool(told.posix_complete_np), told.posix_pid_np,
                    _text(told.posix_executable_np), _text(told.posix_host_np),
                    _text(told.posix_system_np), told.posix_start_np.ns, told.posix_end_np.ns,
                    told.posix_lost_np, told.posix_counts_np.posix_written_np,
                    told.posix_clock_np.posix_hz_np, told.posix_signal_np)

    def _fail(self, error: int) -> None:
        if error:
            raise LogError(error, os.strerror(error), self._path)

    def type(self, number: int) -> Type:
        """The type of that number; one that the log does not name is called #number."""
        if number in self._types:
            return self._types[number]
        name = create_string_buffer(_native.NAME_ROOM)
        description = create_string_buffer(_native.FORMAT_ROOM)
        trid = self._need()
        if library.posix_trace_eventid_get_name(trid, number, name):
            return Type(number, f"#{number}", b"")
        library.posix_trace_eventid_getformat_np(trid, number, description, len(description))
        self._types[number] = Type(number, _text(name.value), description.value)
        return self._types[number]

    @property
    def types(self) -> Dict[int, Type]:
        """All types that the log names, by number."""
        trid = self._need()
        number = c_uint(0)
        end = c_int(0)
        self._fail(library.posix_trace_eventtypelist_rewind(trid))
        while True:
            self._fail(library.posix_trace_eventtypelist_getnext_id(trid, byref(number),
                                                                    byref(end)))
            if end.value:
                return dict(sorted(self._types.items()))
            self.type(number.value)

    def thread(self, entry: int) -> Optional[Thread]:
        """The thread of that entry, as columns() have it; None: the log does not know it."""
        if entry in self._threads:
            return self._threads[entry]
        trid = self._need()
        error, told = library.get(
            _native.LogThread,
            lambda thread, size: library.posix_trace_log_getthread_np(trid, entry, thread, size))
        if error:
            return None
        self._threads[entry] = Thread(entry, _text(told.posix_name_np), told.posix_tid_np,
                                      told.posix_pid_np, told.posix_thread_np)
        return self._threads[entry]

    def _entries(self, kind: Any, call: Any) -> Iterator[Any]:
        trid = self._need()
        index = 0
        while True:
            error, told = library.get(kind, partial(call, trid, index))
            if error:
                return
            yield told
            index += 1

    @property
    def threads(self) -> List[Thread]:
        """All threads that the log knows; the index of each is its entry."""
        count = sum(1 for _ in self._entries(_native.LogThread,
                                             library.posix_trace_log_getthread_np))
        return [one for one in map(self.thread, range(count)) if one is not None]

    @property
    def modules(self) -> List[Module]:
        """The executable and the libraries of the program that was traced."""
        return [Module(_text(one.posix_path_np), one.posix_base_np, one.posix_low_np,
                       one.posix_high_np, bytes(one.posix_buildid_np)[:one.posix_buildid_bytes_np])
                for one in self._entries(_native.LogModule, library.posix_trace_log_getmodule_np)]

    @property
    def notes(self) -> List[Note]:
        """What was noted with the log, in that order."""
        return [Note(_text(one.posix_name_np), _text(one.posix_text_np))
                for one in self._entries(_native.LogNote, library.posix_trace_log_getnote_np)]

    # ---- Its events ----

    def _batch(self, room: int) -> int:
        """Fills the views; 0 at the end.  Damage is told and passed over."""
        count = c_size_t(0)
        while True:
            error = library.posix_trace_getnext_events_np(self._need(), byref(self._views), _VIEW,
                                                          room, byref(count))
            if error == 0 and count.value:
                return count.value
            skipped, finding = library.get(
                _native.LogFinding,
                lambda room, size: library.posix_trace_log_skipdamage_np(self._need(), room, size))
            if skipped:
                self._fail(error)
                return 0
            self._warn(DamageWarning, "passed over: " + _text(finding.posix_reason_np),
                       finding.posix_offset_np)

    def _batches(self) -> Iterator[int]:
        """From the oldest event: after each step the views hold so many events."""
        self._need()
        self._fail(library.posix_trace_rewind(self._trid))
        self._pass += 1
        own = self._pass
        lost = 0
        while count := self._batch(_ROOM):
            lost += sum(self._column("lost_before", count))
            yield count
            if own != self._pass:
                raise RuntimeError("the log is read from its beginning by somebody else since")
        self._tell_lost(max(lost, self.info.lost))

    def _column(self, name: str, count: int) -> memoryview:
        """One member of all views, as it lies in them."""
        member, code = _COLUMNS[name]
        place = getattr(EventView, member)
        return memoryview(self._raw).cast(code)[place.offset // place.size:
                                                count * _VIEW // place.size:_VIEW // place.size]

    def __iter__(self) -> Iterator[Event]:
        """All events, from the oldest, in the order of their times."""
        for count in self._batches():
            # Made before the first one is handed out: views are good until the next call only.
            yield from [self._event(self._views[i]) for i in range(count)]

    def _event(self, view: EventView) -> Event:
        event = Event()
        event.time = view.posix_ns_np
        event.type = self._types.get(view.posix_event_id_np) or self.type(view.posix_event_id_np)
        event.thread = (self._threads.get(view.posix_thread_entry_np)
                        or self._thread_of(view.posix_thread_entry_np))
        event.pid = view.posix_pid_np
        event.cpu = view.posix_cpu_np
        event.data = string_at(view.posix_data_np, view.posix_bytes_np) if view.posix_bytes_np \
            else b""
        event.cut = bool(view.posix_cut_np)
        event.lost_before = view.posix_lost_before_np
        event.number = view.posix_number_np
        event.ticks = view.posix_ticks_np
        event.address = view.posix_prog_address_np or 0
        return event

    def _thread_of(self, entry: int) -> Optional[Thread]:
        return None if entry == _native.NO_ENTRY else self.thread(entry)

    def columns(self, *names: str, type: Union[None, str, int] = None, data: bool = False,
                numpy: Optional[bool] = None) -> Columns:
        """The events as columns.

        @names: of "time" (ns since 1970), "type", "thread" (an entry; thread() has it, 2**32 - 1:
                unknown), "pid", "cpu", "cut", "lost_before", "number", "ticks", "bytes" (of data),
                "address"; without any: time, type, thread, cpu.
        @type:  only events of this type, by name or number, with a column for each of its fields.
        @data:  a column "data" of bytes, too.
        @numpy: False: array.array, also where numpy is there; True: an error where it is not.
        """
        kinds = self._kinds(type)
        columns = Columns((name, array(_COLUMNS[name][1]))
                          for name in names or ("time", "type", "thread", "cpu"))
        raw: List[bytes] = []
        for count in self._batches():
            chosen: Optional[List[bool]] = None
            if type is not None:
                chosen = [one in kinds for one in self._column("type", count)]
                if True not in chosen:
                    continue
                if False not in chosen:
                    chosen = None
            for name, column in columns.items():
                self._append(column, name, count, chosen)
            if data or type is not None:
                self._append_data(raw, count, chosen)
        if data:
            columns["data"] = raw
        for one in list(kinds.values())[:1]:
            columns.update(_field_columns(one, raw, columns))
        if numpy or (numpy is None and _has_numpy()):
            columns.to_numpy()
        return columns

    def _kinds(self, wanted: Union[None, str, int]) -> Dict[int, Type]:
        if wanted is None:
            return {}
        kinds = {one.id: one for one in self.types.values() if wanted in (one.id, one.name)}
        if not kinds:
            raise KeyError(f"{self._path} has no type {wanted!r}")
        return kinds

    def _append(self, column: "array[Any]", name: str, count: int,
                chosen: Optional[Sequence[bool]]) -> None:
        part = self._column(name, count)
        if chosen is None:
            column.frombytes(part.tobytes())
        else:
            column.extend(compress(part, chosen))

    def _append_data(self, raw: List[bytes], count: int, chosen: Optional[Sequence[bool]]) -> None:
        word = sizeof(c_size_t)
        places = memoryview(self._raw).cast(_WORD[word])[EventView.posix_data_np.offset // word:
                                                         count * _VIEW // word:_VIEW // word]
        pairs: Any = zip(places, self._column("bytes", count))
        raw += [string_at(place, length) if length else b""
                for place, length in (pairs if chosen is None else compress(pairs, chosen))]


def _field_columns(kind: Type, raw: List[bytes], taken: Columns) -> Dict[str, Any]:
    """A column for each field; one that has the name of a column of events is called field.NAME."""
    names = [f"field.{one.name}" if one.name in taken else one.name for one in kind.fields]
    if not kind._tail and all(len(one) == kind._struct.size for one in raw):
        whole = b"".join(raw)
        columns: List[Any] = [_cut_out(whole, one, kind._struct.size) for one in kind.fields]
    else:
        rows = [kind.decode(one) for one in raw]
        lists = [[row.get(one.name) for row in rows] for one in kind.fields]
        columns = [array(one.code, values) if one.code and None not in values else values
                   for one, values in zip(kind.fields, lists)]
    return dict(zip(names, columns))


def _cut_out(whole: bytes, field: Field, size: int) -> Union[List[str], "array[Any]"]:
    """One field of data of @size bytes each: byte by byte of all of them at once."""
    column = bytearray(len(whole) // size * field.bytes)
    for i in range(field.bytes):
        column[i::field.bytes] = whole[field.offset + i::size]
    if field.code:
        values = array(field.code)
        values.frombytes(column)
        return values
    return [_value_text(bytes(column[i:i + field.bytes]))
            for i in range(0, len(column), field.bytes)]


def open(path: Path, strict: bool = False) -> Log:  # pylint: disable=redefined-builtin
    """Opens a log.  What is missing in it is never passed over silently:

    lost records     LossWarning, here or at the end of the reading that learns of it
    no end, damage   IncompleteWarning here, and the log is read as far as it goes; with @strict a
                     LogError
    damaged blocks   DamageWarning while they are passed over

    warnings.simplefilter("error", libptrace.LogWarning) makes exceptions of them.

    Raises LogError, an OSError with the library's reason.
    """
    return Log(path, strict)
