# SPDX-License-Identifier: MIT
"""ptrace - logs of POSIX tracing (libptrace) in Python.

    import ptrace

    with ptrace.open("run.ptl") as log:
        for e in log:
            print(e.time, e.name, e.thread, e.fields)

log.columns() has the same as arrays, for numpy and pandas where they are there; ptrace.why() asks
`pxtrace why` what was late.  docs/python.md is the manual.
"""
from ._log import (Columns, DamageWarning, Event, Field, IncompleteWarning, Info, Log, LogError,
                   LogWarning, LossWarning, Module, Note, Thread, Type, open)
from ._native import LayoutError
from ._why import Answer, Cause, Holder, Late, Link, Meanwhile, Moment, Reason, WhyError, why

__all__ = ["Answer", "Cause", "Columns", "DamageWarning", "Event", "Field", "Holder",
           "IncompleteWarning", "Info", "Late", "LayoutError", "Link", "Log", "LogError",
           "LogWarning", "LossWarning", "Meanwhile", "Module", "Moment", "Note", "Reason", "Thread",
           "Type", "WhyError", "open", "why"]
