# SPDX-License-Identifier: MIT
"""_native.py - libptrace-retrieval by ctypes.

The structures and functions of <trace_np.h> that the module uses stand here and nowhere else.
ctypes, not cffi: a wheel for all machines, no compiler and no package where it is installed; the
price of a call does not matter, as one call brings a block of events.

The library's file name holds the version of its interface.  Structures grow at their end alone, and
each call says how large ours are: a newer library stores no more, an older one zeroes the rest.
"""
from __future__ import annotations

import ctypes
import ctypes.util
import os
from ctypes import (POINTER, Structure, Union, byref, c_char, c_char_p, c_double, c_int, c_int16,
                    c_int64, c_long, c_size_t, c_ubyte, c_uint, c_uint8, c_uint32, c_uint64,
                    c_ulong, c_void_p)
from typing import Any, Callable, Tuple, Type, TypeVar

S = TypeVar("S", bound=Structure)

#: The name that the loader finds it by: it ends in the version of its interface.
LIBRARY = "libptrace-retrieval.so.0"
#: A description, and a name of the longest configuration, with their zeros.
FORMAT_ROOM = 256
NAME_ROOM = 4096
#: The most fields of a description.
FIELDS_MAX = 32
NO_ENTRY = 2**32 - 1

#: POSIX_TRACE_OPEN_GROWING_NP
OPEN_GROWING = 1
FIELD_UNSIGNED, FIELD_SIGNED, FIELD_HEX, FIELD_FLOAT, FIELD_TEXT = 1, 2, 3, 4, 5


class LayoutError(ImportError):
    """The library that was found is not the one that this module was made for."""


class Timespec(Structure):
    _fields_ = [("tv_sec", c_long), ("tv_nsec", c_long)]

    @property
    def ns(self) -> int:
        return int(self.tv_sec) * 10**9 + int(self.tv_nsec)


class Counts(Structure):
    _c_name_ = "struct posix_trace_counts_np"
    _fields_ = [("posix_written_np", c_uint64), ("posix_retrieved_np", c_uint64),
                ("posix_lost_np", c_uint64), ("posix_cleared_np", c_uint64),
                ("posix_held_np", c_uint64), ("posix_stable_np", c_int),
                ("_pxt_later", c_uint32 * 5)]


class Clock(Structure):
    _c_name_ = "struct posix_trace_clock_np"
    _fields_ = [("posix_source_np", c_int), ("posix_error_ppm_np", c_uint32),
                ("posix_hz_np", c_uint64), ("posix_anchor_ticks_np", c_uint64),
                ("posix_anchor_np", Timespec), ("_pxt_later", c_uint32 * 4)]


class LogInfo(Structure):
    _c_name_ = "struct posix_trace_loginfo_np"
    _fields_ = [("posix_uuid_np", c_ubyte * 16), ("posix_format_major_np", c_uint32),
                ("posix_format_minor_np", c_uint32), ("posix_word_bytes_np", c_int),
                ("posix_swapped_np", c_int), ("posix_complete_np", c_int), ("posix_pid_np", c_int),
                ("posix_start_np", Timespec), ("posix_end_np", Timespec),
                ("posix_blocks_np", c_uint64), ("posix_lost_np", c_uint64),
                ("posix_counts_np", Counts), ("posix_clock_np", Clock),
                ("posix_threads_np", c_uint32), ("posix_modules_np", c_uint32),
                ("posix_executable_np", c_char * 256), ("posix_host_np", c_char * 65),
                ("posix_generation_np", c_uint32), ("posix_start_monotonic_np", Timespec),
                ("posix_start_boottime_np", Timespec), ("posix_end_monotonic_np", Timespec),
                ("posix_end_boottime_np", Timespec), ("posix_boot_id_np", c_ubyte * 16),
                ("posix_signal_np", c_int), ("posix_signal_code_np", c_int),
                ("posix_signal_address_np", c_uint64), ("posix_signal_at_np", c_uint64),
                ("posix_signal_sender_np", c_int), ("posix_signal_tid_np", c_int),
                ("posix_cpus_np", c_uint32), ("posix_system_np", c_char * 40),
                ("posix_process_start_np", Timespec), ("posix_notes_np", c_uint32),
                ("posix_larger_priority_np", c_int), ("posix_file_np", c_uint32),
                ("posix_earlier_np", c_uint64), ("posix_earlier_lost_np", c_uint64),
                ("posix_earlier_repeated_np", c_uint64)]


class LogThread(Structure):
    _c_name_ = "struct posix_trace_logthread_np"
    _fields_ = [("posix_thread_np", c_uint64), ("posix_pid_np", c_int), ("posix_tid_np", c_int),
                ("posix_name_np", c_char * 16)]


class LogModule(Structure):
    _c_name_ = "struct posix_trace_logmodule_np"
    _fields_ = [("posix_base_np", c_uint64), ("posix_low_np", c_uint64),
                ("posix_high_np", c_uint64), ("posix_buildid_bytes_np", c_uint32),
                ("posix_buildid_np", c_ubyte * 32), ("posix_path_np", c_char * 256)]


class LogNote(Structure):
    _c_name_ = "struct posix_trace_lognote_np"
    _fields_ = [("posix_name_np", c_char * 64), ("posix_text_np", c_char * 256)]


class LogError(Structure):
    _c_name_ = "struct posix_trace_logerror_np"
    _fields_ = [("posix_offset_np", c_uint64), ("posix_reason_np", c_char * 160)]


class LogFinding(Structure):
    _c_name_ = "struct posix_trace_logfinding_np"
    _fields_ = [("posix_kind_np", c_int), ("posix_block_np", c_uint64),
                ("posix_offset_np", c_uint64), ("posix_reason_np", c_char * 160)]


class EventView(Structure):
    _c_name_ = "struct posix_trace_eventview_np"
    _fields_ = [("posix_event_id_np", c_uint), ("posix_bytes_np", c_uint32),
                ("posix_data_np", c_void_p), ("posix_ns_np", c_int64),
                ("posix_ticks_np", c_uint64), ("posix_lost_before_np", c_uint64),
                ("posix_number_np", c_uint64), ("posix_thread_id_np", c_ulong),
                ("posix_prog_address_np", c_void_p), ("posix_pid_np", c_int),
                ("posix_cpu_np", c_int16), ("posix_cut_np", c_uint8),
                ("posix_thread_exact_np", c_uint8), ("posix_thread_entry_np", c_uint32)]


class FieldValue(Union):
    _fields_ = [("posix_u_np", c_uint64), ("posix_i_np", c_int64), ("posix_f_np", c_double)]


class Field(Structure):
    _c_name_ = "struct posix_trace_field_np"
    _fields_ = [("posix_name_np", c_char * 64), ("posix_kind_np", c_int),
                ("posix_bytes_np", c_uint32), ("posix_offset_np", c_uint32),
                ("posix_value_np", FieldValue)]


#: Those that the library fills in.
STRUCTURES: Tuple[Type[Structure], ...] = (Counts, Clock, LogInfo, LogThread, LogModule, LogNote,
                                           LogError, LogFinding, EventView, Field)

_FUNCTIONS = {
    "posix_trace_log_open_np": [POINTER(c_int), c_size_t, c_int, POINTER(c_ulong), c_void_p,
                                c_size_t],
    "posix_trace_close": [c_ulong],
    "posix_trace_rewind": [c_ulong],
    "posix_trace_getnext_events_np": [c_ulong, c_void_p, c_size_t, c_size_t,
                                      POINTER(c_size_t)],
    "posix_trace_eventtypelist_rewind": [c_ulong],
    "posix_trace_eventtypelist_getnext_id": [c_ulong, POINTER(c_uint), POINTER(c_int)],
    "posix_trace_eventid_get_name": [c_ulong, c_uint, c_char_p],
    "posix_trace_eventid_getformat_np": [c_ulong, c_uint, c_char_p, c_size_t],
    "posix_trace_fields_np": [c_char_p, c_void_p, c_size_t, c_size_t, POINTER(c_size_t)],
    "posix_trace_text_np": [c_char_p, c_char_p, c_size_t, c_int, c_char_p, c_size_t],
    "posix_trace_log_getinfo_np": [c_ulong, c_void_p, c_size_t],
    "posix_trace_log_getthread_np": [c_ulong, c_uint32, c_void_p, c_size_t],
    "posix_trace_log_getmodule_np": [c_ulong, c_uint32, c_void_p, c_size_t],
    "posix_trace_log_getnote_np": [c_ulong, c_uint32, c_void_p, c_size_t],
    "posix_trace_log_skipdamage_np": [c_ulong, c_void_p, c_size_t],
}


def _find() -> ctypes.CDLL:
    """PXTRACE_LIBRARY in the environment, or where the loader looks."""
    chosen = os.environ.get("PXTRACE_LIBRARY")
    if chosen:
        return ctypes.CDLL(chosen)
    try:
        return ctypes.CDLL(LIBRARY)
    except OSError as error:
        raise ImportError(f"{error}; LD_LIBRARY_PATH names the folder of libptrace-retrieval, or "
                          "PXTRACE_LIBRARY the file") from error


class Library:
    """The library's functions, each of which returns an error number, by their C names."""

    def __init__(self) -> None:
        self._dll = _find()
        for name, arguments in _FUNCTIONS.items():
            try:
                function = getattr(self._dll, name)
            except AttributeError:
                raise LayoutError(f"{self._dll._name} has no {name}: it is not the version that "
                                  "this module was made for") from None
            function.argtypes = arguments
            function.restype = c_int
            setattr(self, name, function)

    def __getattr__(self, name: str) -> Callable[..., int]:
        raise AttributeError(name)

    @staticmethod
    def get(kind: Type[S], call: Callable[[Any, int], int]) -> Tuple[int, S]:
        """What @call stores, with its error number."""
        answer = kind()
        return call(byref(answer), ctypes.sizeof(kind)), answer


library = Library()
