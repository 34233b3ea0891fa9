# SPDX-License-Identifier: MIT
"""What must hold between measured values, whatever the machine.  Never a time by itself."""

CONFIGURATIONS = ("complete", "minimal")
PAYLOADS = (0, 4, 8, 16, 48, 256)
SELF_TEST = "self-test"


def compare(results, text, small, large, by="Average"):
    """held, when the value at @small is not above that at @large: (suite, table, row) each."""
    values = [results.number(*where, by) for where in (small, large)]
    if None in values:
        return text, "not measured", ""
    return (text, "held" if values[0] <= values[1] else "not held",
            f"{values[0]:.1f} ns, {values[1]:.1f} ns")


def caches(results):
    for configuration in CONFIGURATIONS:
        for what in ("Trace", "Retrieve"):
            yield compare(results, f"{what}, {configuration}: the second call is not dearer than the "
                          "first, on average", ("user", configuration, f"{what} (2nd value)"),
                          ("user", configuration, f"{what} (1st value)"))


def smaller_is_cheaper(results):
    rows = [("user", f"{what} ({which})") for what in ("Trace", "Retrieve")
            for which in ("1st value", "2nd value", "all values")]
    for suite, row in rows + [("system", "System event (48 bytes)")]:
        yield compare(results, f"{row}: minimal is not dearer than complete, on average",
                      (suite, "minimal", row), (suite, "complete", row))


def unwanted_is_free(results):
    empty = results.number("user", "complete, further", "Empty measurement (all values)", "median")
    for row in ("Not wanted (all values)", "No stream (all values)"):
        got = results.number("user", "complete, further", row, "median")
        text = f"{row}: within two empty measurements of the empty one, by the median"
        if empty is None or got is None:
            yield text, "not measured", ""
        else:
            yield (text, "held" if abs(got - empty) <= 2 * empty else "not held",
                   f"{got:.1f} ns, {empty:.1f} ns")


def system_is_cheaper(results):
    for payload in PAYLOADS:
        yield compare(results, f"{payload} bytes: a system event is not dearer than a user event, "
                      "by the median", ("system", "complete, further",
                                        f"System event ({payload} bytes)"),
                      ("system", "complete, further", f"User event ({payload} bytes)"), "median")


def nothing_is_missing(results):
    for configuration in CONFIGURATIONS:
        pool = results.text("user", SELF_TEST, configuration, "pool identity")
        yield (f"User events, {configuration}: two halves make up the whole (pool identity)",
               {"holds": "held", None: "not measured"}.get(pool, "not held"), pool or "")
        releases = results.number("user", SELF_TEST, configuration, "releases")
        if releases is None:
            yield f"User events, {configuration}: no value is lost", "not measured", ""
            continue
        values = [results.number("user", f"{configuration}, further", f"{what} (all values)",
                                 "values") for what in ("Trace", "Retrieve")]
        astray = [results.number("user", SELF_TEST, configuration, what)
                  for what in ("missing", "wrong")]
        whole = values == [2 * releases] * 2 and astray == [0, 0]
        yield (f"User events, {configuration}: no value is lost", "held" if whole else "not held",
               f"{values[0]:.0f} traced, {values[1]:.0f} retrieved as they were traced")


def footprint(results):
    for row, column, _, verdict in results.table("footprint", "gates"):
        yield f"Footprint, {row}: {column}", verdict.partition(":")[0], verdict.partition(": ")[2]


def relations(results):
    """(text, held | not held | not measured, the two values)"""
    for group in (caches, smaller_is_cheaper, unwanted_is_free, system_is_cheaper,
                  nothing_is_missing, footprint):
        yield from group(results)
