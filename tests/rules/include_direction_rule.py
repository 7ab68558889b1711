#!/usr/bin/env python3
"""Checks that dependencies point one way: search <- config, storage <- agents, daemon; agents <- daemon.

search is pure: besides itself it includes only the parts of the standard library that do no I/O, start no threads and
read no clock, and tl::expected. Beast stays in at most four .cpp files and in no header; librdkafka in agents/worker, daemon/cluster and
deploy; SQLite in storage. tests and deploy may include anything, and nothing of the product may include them.

    include_direction_rule.py SOURCE_DIR    checks itself, then the tree; prints file:line and exits 1 on a violation
    include_direction_rule.py --self-test   only checks itself
"""
import pathlib
import re
import sys

MAY_INCLUDE = {
    "search": ("search",),
    "config": ("search", "config"),
    "storage": ("search", "storage"),
    "agents": ("search", "config", "storage", "agents"),
    "daemon": ("search", "config", "storage", "agents", "daemon"),
}
FREE = ("deploy", "tests")
TOPS = tuple(MAY_INCLUDE) + FREE
PURE = set("""algorithm array bit bitset cassert cctype cerrno cfloat charconv chrono cinttypes climits cmath compare
complex concepts cstddef cstdint cstdio cstdlib cstring deque exception functional initializer_list iterator limits list map
memory new numbers numeric optional queue random ranges ratio set span stack stdexcept string string_view system_error
tl/expected.hpp tuple type_traits typeinfo unordered_map unordered_set utility variant vector version""".split())
# What an allowed header brings that is not pure after all; snprintf into a buffer is.
IMPURE_TEXT = re.compile(
    r"\b(?:system_clock|steady_clock|high_resolution_clock|random_device|getenv|time\s*\(\s*(?:0|NULL|nullptr)"
    r"|fopen|printf|fprintf|puts|fputs|stdout|stderr)\b")
# Libraries that only some folders may see: how an include of it begins, and where it may stand.
KEPT = {
    "librdkafka/": ("agents/worker/", "daemon/cluster/", "deploy/", "tests/"),
    "SQLiteCpp/": ("storage/", "tests/"),
    "sqlite3": ("storage/", "tests/"),
}
BEAST_FILES = 4
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.M)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)


def fault_of(path, quote, target):
    top = path.split("/")[0]
    for library, places in KEPT.items():
        if target.startswith(library) and not path.startswith(places):
            return f"{target} may only be included in {', '.join(places)}"
    if target.startswith("boost/beast") and not path.endswith(".cpp"):
        return f"{target} in a header; keep Beast behind an interface in agents/net"
    if top in FREE:
        return None
    other = target.split("/")[0] if "/" in target else ""
    if other in TOPS:
        if other not in MAY_INCLUDE[top]:
            return f"{top} must not include {target}: it may include {', '.join(MAY_INCLUDE[top])}"
        return None
    if ".." in target.split("/"):
        return f"{target}: include by the path from the root"
    if top == "search" and (quote == '"' or target not in PURE):
        return f"search is pure and must not include {target}"
    return None


def violations(files):
    """files: path -> source."""
    beast = []
    for path, source in files.items():
        code = COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), source)

        def at(position):
            return f"{path}:{code.count(chr(10), 0, position) + 1}: "

        for match in INCLUDE.finditer(code):
            fault = fault_of(path, *match.groups())
            if fault:
                yield at(match.start(2)) + fault
            if match.group(2).startswith("boost/beast") and path not in beast:
                beast.append(path)
        if path.startswith("search/"):
            for match in IMPURE_TEXT.finditer(code):
                yield at(match.start()) + f"search is pure and must not use {match.group(0)}; pass the value in"
    if len(beast) > BEAST_FILES:
        yield f"{beast[-1]}:1: Beast is included in {len(beast)} files, and {BEAST_FILES} are the most: {', '.join(beast)}"


GOOD = {
    "search/a.hpp": '#pragma once\n#include <chrono>\n#include <vector>\n\n#include "search/units.hpp"\n',
    "search/b.cpp": "// steady_clock and <fstream> are only spoken of\nint x;\n",
    "config/a.cpp": '#include <toml++/toml.h>\n#include "config/a.hpp"\n#include "search/error.hpp"\n',
    "storage/a.cpp": '#include <SQLiteCpp/SQLiteCpp.h>\n#include <sqlite3.h>\n#include "search/error.hpp"\n',
    "agents/worker/a.cpp": '#include <librdkafka/rdkafka.h>\n#include "config/a.hpp"\n#include "storage/a.hpp"\n',
    "agents/net/a.cpp": "#include <boost/beast/http/parser.hpp>\n",
    "daemon/main.cpp": '#include "agents/net/router.hpp"\n#include "daemon/app.hpp"\n#include "brink_version.hpp"\n',
    "deploy/sim/a.cpp": '#include <librdkafka/rdkafka_mock.h>\n#include "daemon/app.hpp"\n',
    "tests/unit/a_test.cpp": '#include "daemon/app.hpp"\n#include <sqlite3.h>\n',
}
BAD = (
    ("search/a.cpp", '#include "config/a.hpp"', "search must not include"),
    ("search/a.cpp", "#include <nlohmann/json.hpp>", "pure"),
    ("search/a.cpp", "#include <boost/math/distributions.hpp>", "pure"),
    ("search/a.cpp", "#include <thread>", "pure"),
    ("search/a.cpp", "#include <fstream>", "pure"),
    ("search/a.cpp", '#include "brink_version.hpp"', "pure"),
    ("search/a.cpp", "auto t = std::chrono::steady_clock::now();", "must not use"),
    ("search/a.cpp", "auto t = std::time(nullptr);", "must not use"),
    ("search/a.cpp", 'std::fprintf(stderr, "x");', "must not use"),
    ("config/a.cpp", '#include "storage/a.hpp"', "config must not include"),
    ("config/a.cpp", '#include "agents/net/router.hpp"', "config must not include"),
    ("storage/a.cpp", '#include "config/a.hpp"', "storage must not include"),
    ("storage/a.cpp", '#include "daemon/app.hpp"', "storage must not include"),
    ("agents/a.cpp", '#include "daemon/app.hpp"', "agents must not include"),
    ("agents/a.cpp", "#  include <daemon/app.hpp>", "agents must not include"),
    ("agents/a.cpp", '#include "../daemon/app.hpp"', "from the root"),
    ("daemon/a.cpp", '#include "tests/fakes/a.hpp"', "daemon must not include"),
    ("daemon/a.cpp", '#include "deploy/sim/a.hpp"', "daemon must not include"),
    ("daemon/sweep/a.cpp", "#include <librdkafka/rdkafka.h>", "only be included in"),
    ("agents/fleet/a.cpp", "#include <librdkafka/rdkafka.h>", "only be included in"),
    ("daemon/a.cpp", "#include <SQLiteCpp/SQLiteCpp.h>", "only be included in"),
    ("agents/a.cpp", "#include <sqlite3.h>", "only be included in"),
    ("agents/net/a.hpp", "#include <boost/beast/http.hpp>", "in a header"),
)


def self_test():
    found = list(violations(GOOD))
    assert not found, f"refuses good includes: {found}"
    for path, line, expected in BAD:
        found = list(violations({path: f"#pragma once\n{line}\n"}))
        assert found and all(expected in fault for fault in found), f"misses {line!r} in {path}: {found}"
        assert found[0].startswith(f"{path}:2: "), found
    beast = {f"agents/net/{name}.cpp": "#include <boost/beast/core.hpp>\n" for name in "abcde"}
    assert any("5 files" in fault for fault in violations(beast)), "misses the fifth file with Beast"
    beast.popitem()
    assert not list(violations(beast)), "refuses four files with Beast"


def main(arguments):
    self_test()
    if arguments == ["--self-test"]:
        print(f"self-test: {len(GOOD)} good files accepted, {len(BAD) + 1} bad ones caught")
        return 0
    root = pathlib.Path(arguments[0])
    paths = [f for top in TOPS for f in sorted((root / top).rglob("*")) if f.suffix in (".cpp", ".hpp")]
    files = {f.relative_to(root).as_posix(): f.read_text(encoding="utf-8") for f in paths}
    found = list(violations(files))
    for violation in found:
        print(violation)
    print(f"{len(files)} files, {len(found)} violations of the include direction")
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
