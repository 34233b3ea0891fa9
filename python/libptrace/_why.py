# SPDX-License-Identifier: MIT
"""_why.py - the answers of `pxtrace why` as objects.

The tool is asked (`pxtrace why --json`), and its object is turned into dataclasses: what it finds
out is in one place.  All times are nanoseconds.
"""
from __future__ import annotations

import json
import os
import subprocess
import warnings
from dataclasses import dataclass, field, fields
from typing import Any, Dict, List, Optional, Type, TypeVar, Union

from ._log import LogWarning

T = TypeVar("T", bound="_Told")


class WhyError(Exception):
    """`pxtrace why` failed; the text is what it said."""


@dataclass
class _Told:
    """An object of the tool's.  What a newer tool tells beside it is in @more."""
    more: Dict[str, Any] = field(default_factory=dict, repr=False, kw_only=True)

    @classmethod
    def of(cls: Type[T], told: Dict[str, Any]) -> T:
        known = {one.name for one in fields(cls)} - {"more"}
        return cls(**{key: _PARTS[cls.__name__, key](value)
                      if (cls.__name__, key) in _PARTS else value
                      for key, value in told.items() if key in known},
                   more={key: value for key, value in told.items() if key not in known})


@dataclass
class Holder(_Told):
    """A lock that was waited for, and who had it."""
    lock: Optional[str] = None
    holder: Optional[str] = None
    taken_in: Optional[str] = None
    given_back_in: Optional[str] = None
    other_holders: int = 0
    since_ns: Optional[int] = None


@dataclass
class Cause(_Told):
    """A part of the length: own, pending, wait, preempted, blocked, slept, lost, other."""
    kind: str = ""
    ns: int = 0
    text: Optional[str] = None
    holder_state: Optional[str] = None
    function: Optional[str] = None
    call: Optional[str] = None
    call_object: Optional[int] = None
    ran_instead: Optional[str] = None
    told_by_scheduler: Optional[bool] = None
    priority_inversion: bool = False
    chain: List[Holder] = field(default_factory=list)


@dataclass
class Link(_Told):
    """One step of the chain: what a thread did, and by whom it was held up."""
    thread: Optional[str] = None
    did: str = ""
    ns: int = 0
    by: Optional[str] = None
    text: Optional[str] = None
    confidence: Optional[str] = None


@dataclass
class Meanwhile(_Told):
    """What another thread did at that time."""
    thread: Optional[str] = None
    span: Optional[str] = None
    count: int = 0
    ns: int = 0


@dataclass
class Moment(_Told):
    """A line of the time line; @ns counts from the release."""
    ns: int = 0
    thread: Optional[str] = None
    text: Optional[str] = None
    lost: int = 0


@dataclass
class Reason(_Told):
    """What held up several late rounds of the thread."""
    text: Optional[str] = None
    rounds: int = 0
    ns: int = 0
    threads: List[Dict[str, Any]] = field(default_factory=list)


@dataclass
class Late(_Told):
    """Something that took too long, and why.  str() is the answer's sentence."""
    answer: Optional[str] = None
    confidence: Optional[str] = None
    kind: str = ""
    span: Optional[str] = None
    lock: Optional[str] = None
    number: Optional[str] = None
    thread: Optional[str] = None
    tid: int = 0
    release_ns: int = 0
    begin_ns: int = 0
    end_ns: int = 0
    length_ns: int = 0
    missed_deadline: bool = False
    late_ns: Optional[int] = None
    ran_ns: Optional[int] = None
    unfinished: bool = False
    begin_lost: bool = False
    median_ns: Optional[int] = None
    spans_of_that_name: Optional[int] = None
    lost_inside: int = 0
    usual_ns: Optional[int] = None
    usual_is: Optional[str] = None
    late_rounds: Optional[int] = None
    rounds: Optional[int] = None
    followers: int = 0
    causes: List[Cause] = field(default_factory=list)
    chain: List[Link] = field(default_factory=list)
    held_up_by: List[Reason] = field(default_factory=list)
    meanwhile: List[Meanwhile] = field(default_factory=list)
    time_line: List[Moment] = field(default_factory=list)
    time_line_left_out: int = 0

    def __str__(self) -> str:
        return self.answer or f"{self.kind} of {self.thread}: {self.length_ns} ns"


@dataclass
class Answer(_Told):
    """All that `pxtrace why` found in a log, the worst first."""
    chosen_by: str = ""
    missed_deadlines: int = 0
    spans_read: int = 0
    unjudged_by_clock: int = 0
    scheduler_events: bool = False
    late: List[Late] = field(default_factory=list)


def _list_of(kind: Type[T]) -> Any:
    return lambda told: [kind.of(one) for one in told]


_PARTS = {
    ("Answer", "late"): _list_of(Late),
    ("Late", "causes"): _list_of(Cause),
    ("Late", "chain"): _list_of(Link),
    ("Late", "held_up_by"): _list_of(Reason),
    ("Late", "meanwhile"): _list_of(Meanwhile),
    ("Late", "time_line"): _list_of(Moment),
    ("Cause", "chain"): _list_of(Holder),
}


def why(path: Union[str, "os.PathLike[str]"], *options: str, pxtrace: str = "pxtrace") -> Answer:
    """What was late in a log, and why: runs `pxtrace why --json OPTIONS PATH`.

    @options are those of pxtrace-why(1), like "--worst", "3".  What the tool says beside its answer
    (losses, an end that is missing) becomes a LogWarning.

    Raises WhyError with the tool's words, OSError where there is no @pxtrace.
    """
    run = subprocess.run([pxtrace, "why", "--json", *options, "--", os.fspath(path)],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    said = run.stderr.decode("utf-8", "replace").strip()
    try:
        told = json.loads(run.stdout)
    except ValueError:
        raise WhyError(said or f"pxtrace why ended with status {run.returncode}") from None
    if said or run.returncode != 0:
        warnings.warn(LogWarning(said or f"pxtrace why ended with status {run.returncode}"),
                      stacklevel=2)
    return Answer.of(told)
