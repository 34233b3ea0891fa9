# SPDX-License-Identifier: MIT
"""libptrace - logs of POSIX tracing in Python.

    import libptrace

    with libptrace.open("run.ptl") as log:
        for e in log:
            print(e.time, e.name, e.thread, e.fields)

log.columns() has the same as arrays, for numpy and pandas where they are there; libptrace.why()
asks `pxtrace why` what was late.  docs/python.md is the manual.
"""
from ._log import (Columns, DamageWarning, Event, Field, IncompleteWarning, Info, Log, LogError,
                   LogWarning, LossWarning, Module, Note, Thread, Type, open)
from ._native import LayoutError
from ._why import Answer, Cause, Holder, Late, Link, Meanwhile, Moment, Reason, WhyError, why

__all__ = ["Answer", "Cause", "Columns", "DamageWarning", "Event", "Field", "Holder",
           "IncompleteWarning", "Info", "Late", "LayoutError", "Link", "Log", "LogError",
           "LogWarning", "LossWarning", "Meanwhile", "Module", "Moment", "Note", "Reason", "Thread",
           "Type", "WhyError", "open", "why"]
