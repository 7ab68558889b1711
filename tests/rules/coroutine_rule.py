#!/usr/bin/env python3
"""Checks the rule that keeps coroutines safe under g++ 12.2, which miscompiles some co_await expressions.

Coroutines live in agents/net only. There, each statement has one co_await, and it is `name = co_await call(args);`,
`Type name = co_await call(args);` or `co_await call(args);`, where the arguments are names (or std::move of them),
with nothing around it: no braces, ?:, && or ||, no switch and no catch block.

    coroutine_rule.py SOURCE_DIR    checks itself, then the tree; prints file:line and exits 1 on a violation
    coroutine_rule.py --self-test   only checks itself
"""
import pathlib
import re
import sys

FOLDERS = ("agents/net/", "tests/unit/agents/net/")
SOURCES = ("search", "config", "storage", "agents", "daemon", "deploy", "tests")
NOISE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<d>[^(\s]*)\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Za-z_])\'(?:\\.|[^\'\\\n])+\'',
    re.S)
CONTROL = re.compile(r"(?:if(?:\s+constexpr)?|while|for|else|do)\b")
# What may stand before co_await: nothing, or a declaration or assignment to one named variable.
TARGET = re.compile(r"(?:[A-Za-z_][\w:<>,*& ]*[ *&>])?[A-Za-z_][\w.]*(?:->[\w.]+)* ?= ?")
CALLEE = re.compile(r"\*?[A-Za-z_][\w:]*(?:(?:\.|->)\w+)*(?:<[\w:<>, ]*>)?")
NOT_A_VALUE = re.compile(r"(?:co_return|return|throw|co_yield)\b")


def blank(match):
    return re.sub(r"[^\n]", " ", match.group(0))


def closing(text, start):
    """Index of the bracket that closes the one at start, or -1."""
    depth = 0
    for i in range(start, len(text)):
        depth += text[i] in "([{"
        depth -= text[i] in ")]}"
        if depth == 0:
            return i
    return -1


def enclosing(text, position):
    """Positions of the brackets open at position, outermost first."""
    stack = []
    for i in range(position):
        if text[i] in "([{":
            stack.append(i)
        elif text[i] in ")]}" and stack:
            stack.pop()
    return stack


def start_of_statement(text, position):
    """Just behind the last ; { } before position that is not inside parentheses."""
    depth = 0
    for i in range(position - 1, -1, -1):
        depth += text[i] in ")]"
        depth -= text[i] in "(["
        if depth < 0 or (depth == 0 and text[i] in ";{}"):
            return i + 1
    return 0


def without_control(statement):
    """The statement behind `if (…)`, `else` and the like."""
    while True:
        statement = statement.lstrip()
        match = CONTROL.match(statement)
        if not match:
            return statement
        rest = statement[match.end():].lstrip()
        if rest.startswith("("):
            end = closing(rest, 0)
            if "co_await" in rest[:end + 1] or end < 0:
                return statement
            rest = rest[end + 1:]
        statement = rest


def fault_of(text, position):
    """What is wrong with the co_await at position of the text without comments and strings, or None."""
    stack = enclosing(text, position)
    if not stack or text[stack[-1]] != "{":
        return "co_await inside parentheses; give its result a name first"
    for bracket in stack:
        if text[bracket] != "{":
            continue
        head = text[start_of_statement(text, bracket):bracket]
        for word in ("switch", "catch"):
            if re.search(rf"\b{word}\s*\(", head):
                return f"co_await inside a {word} block"
    start = start_of_statement(text, position)
    end = text.find(";", position)
    statement = re.sub(r"\s+", " ", without_control(text[start:end])).strip()
    before, _, after = statement.partition("co_await")
    if "{" in statement or "}" in statement:
        return "braces in a statement with co_await; build the value first"
    if "co_await" in after:
        return "two co_await in one statement"
    for operator in ("?", "&&", "||"):
        if operator in statement:
            return f"{operator} in a statement with co_await"
    if NOT_A_VALUE.search(before):
        return "the result of co_await must initialise or assign a named variable first"
    if before and not TARGET.fullmatch(before):
        return "before co_await only `name = ` or `Type name = ` may stand"
    call = after.strip()
    callee = CALLEE.match(call)
    if not callee:
        return "behind co_await must stand a name or a call"
    rest = call[callee.end():].lstrip()
    if not rest:
        return None
    if not rest.startswith("("):
        return "something is done with the result of co_await in the same statement"
    last = closing(rest, 0)
    if last != len(rest) - 1:
        return "something is done with the result of co_await in the same statement"
    if re.search(r"[(\[]", re.sub(r"std::move\(\s*[\w.>-]+\s*\)", "moved", rest[1:last])):
        return "an argument of co_await is built in the same statement; build it first and pass its name"
    return None


def violations(path, source):
    text = NOISE.sub(blank, source)
    allowed = path.startswith(FOLDERS)
    for match in re.finditer(r"\bco_(?:await|return|yield)\b", text):
        fault = None
        if not allowed:
            fault = f"{match.group(0)} outside agents/net; call its blocking interface instead"
        elif match.group(0) == "co_await":
            fault = fault_of(text, match.start())
        if fault:
            yield f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {fault}"


GOOD = (
    "auto x = co_await f();",
    "const std::size_t n = co_await socket_.async_read_some(space, token);",
    "tcp::resolver::results_type found = co_await call.resolver->async_resolve(call.host, call.port, token);",
    "x = co_await serve();",
    "this->x = co_await serve();",
    "co_await timer.async_wait(token);",
    "co_await exchange(*call, true, attempt);",
    "const bool sent = co_await write(std::move(text));",
    "if (a && b) co_await drain();",
    "if (a) { x = co_await f(); } else { y = co_await g(); }",
    "for (;;) { x = co_await f(); }",
    "try { x = co_await f(); } catch (...) { failed = true; }",
    "spawn(io, [self]() -> awaitable<void> { co_await self->run(); });",
    "// x = a ? co_await f() : 0\n co_return;",
    'log("a ? co_await f() : 0"); const char q = \'"\'; co_await f();',
)
BAD = (
    ("x = co_await f() + co_await g();", "two co_await"),
    ("x = co_await f(co_await g());", "inside parentheses"),
    ("x = a ? co_await f() : 0;", "? in"),
    ("x = a && co_await f();", "&& in"),
    ("x = co_await f() || a;", "|| in"),
    ("if (co_await f()) { g(); }", "inside parentheses"),
    ("while (co_await f()) g();", "inside parentheses"),
    ("for (;; x = co_await f()) g();", "inside parentheses"),
    ("g(co_await f());", "inside parentheses"),
    ("auto x{co_await f()};", "braces"),
    ("Pair x = {co_await f(), 1};", "braces"),
    ("x = co_await f(Options{1, 2});", "braces"),
    ("x = co_await f({1, 2});", "braces"),
    ("x = co_await f([] { return 1; });", "braces"),
    ("co_return co_await f();", "named variable"),
    ("throw co_await f();", "named variable"),
    ("x = co_await f() + 1;", "done with the result"),
    ("x = (co_await f()).size();", "inside parentheses"),
    ("x = co_await f().size();", "done with the result"),
    ("x += co_await f();", "before co_await"),
    ("x = !co_await f();", "before co_await"),
    ("x = y = co_await f();", "before co_await"),
    ("x = co_await f(std::string(text));", "argument"),
    ("x = co_await f(make(1));", "argument"),
    ("switch (a) { case 1: x = co_await f(); }", "switch"),
    ("switch (a) { case 1: { x = co_await f(); break; } }", "switch"),
    ("switch (co_await f()) { default: break; }", "inside parentheses"),
    ("try { g(); } catch (const E& e) { co_await f(); }", "catch"),
    ("try { g(); } catch (...) { if (a) { co_await f(); } }", "catch"),
)


def self_test():
    def faults(path, body):
        return list(violations(path, f"awaitable<int> coroutine() {{\n{body}\n}}\n"))

    for body in GOOD:
        found = faults("agents/net/good.cpp", body)
        assert not found, f"refuses good code: {body!r}: {found}"
    for body, expected in BAD:
        found = faults("agents/net/bad.cpp", body)
        assert any(expected in fault for fault in found), f"misses bad code: {body!r}: {found}"
        assert all(fault.startswith("agents/net/bad.cpp:2: ") for fault in found), found
    for path in ("daemon/api/a.cpp", "agents/fleet/a.hpp", "agents/network.cpp"):
        assert faults(path, "auto x = co_await f();"), f"misses a coroutine in {path}"
        assert faults(path, "co_return 1;"), f"misses a coroutine in {path}"


def main(arguments):
    self_test()
    if arguments == ["--self-test"]:
        print(f"self-test: {len(GOOD)} good and {len(BAD)} bad snippets told apart")
        return 0
    root = pathlib.Path(arguments[0])
    files = [f for top in SOURCES for f in sorted((root / top).rglob("*")) if f.suffix in (".cpp", ".hpp")]
    found = [v for f in files for v in violations(f.relative_to(root).as_posix(), f.read_text(encoding="utf-8"))]
    for violation in found:
        print(violation)
    print(f"{len(files)} files, {len(found)} violations of the coroutine rule")
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
