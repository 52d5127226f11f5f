"""Rules for Swift."""

import re

# Allowed only beside a comment that gives the reason.
NEEDS_REASON = {
    r"\btry!": "try!",
    r"\bas!": "as!",
    r"@unchecked\s+Sendable\b": "@unchecked Sendable",
    r"\bnonisolated\(unsafe\)": "nonisolated(unsafe)",
    r"\bTask\s*\.\s*detached\b": "Task.detached",
}
REASON_LINES_BEFORE = 3
REASON_LINES_AFTER = 2
# A documentation comment is there anyway; it counts if it argues.
_ARGUES = re.compile(r"\b(because|unchecked|since|sound|safe|safely|never|only|immutable|guarded|locked?|checked)\b", re.IGNORECASE)

# Logic gets its configuration; only these read the environment.
_ENVIRONMENT = re.compile(r"\bprocessInfo\s*\.\s*environment\b|(?<![\w.])getenv\s*\(")
_ENVIRONMENT_READERS = ("ServiceKit", "Executables", "LocalStack", "LocalPostgres")

_SQL = re.compile(
    r"\b(SELECT\s[^;]*?\bFROM\s|INSERT\s+INTO\s|UPDATE\s+[\w.]+\s+(AS\s+\w+\s+)?SET\s|DELETE\s+FROM\s"
    r"|(CREATE|ALTER|DROP)\s+(UNIQUE\s+)?(TABLE|SCHEMA|INDEX|ROLE|DATABASE|TYPE|FUNCTION|VIEW)\s|TRUNCATE\s+\w)")
# Modules that are about PostgreSQL as such.
_SQL_MODULES = ("Postgres", "LocalPostgres")
_SQL_FOLDERS = ("Store", "Migrations")

# Servers are for Linux. What a phone will use may be compiled elsewhere.
_SYSTEM_BRANCH = re.compile(r"^[ \t]*#(?:if|elseif)[^\n]*\b(?:canImport\((?:Darwin|Musl|Glibc)\)|os\()", re.MULTILINE)
_PHONE_MODULES = ("API", "Kits", "Models", "RPC")

_DEFAULT_CASE = re.compile(r"\bdefault\s*:")
# A switch over `any Error` by type can't do without.
_TYPE_CASE = re.compile(r"\bcase\s+(let\s+\w+\s+as|is)\s")

# A test's name is a sentence that says what holds, as a raw identifier; a suite's is its type's.
_TEST = re.compile(r"@Test\b")
_TEST_FUNCTION = re.compile(r"\bfunc\s+(`[^`]*`|\w+)")
_SENTENCE = re.compile(r"`([A-Z][^`]*|\w+\(\)) [^`]*[^`.]`")
_TEST_WITH_TITLE = re.compile(r'@(Test|Suite)\s*\(\s*#*"')
_BARE_SUITE = re.compile(r"@Suite\b(?!\s*\()")


def check(file):
    if not file.is_swift or file.is_generated:
        return
    yield from _test_names(file)
    for pattern, name in NEEDS_REASON.items():
        for match in file.code_matches(pattern):
            if not file.has_comment_near(match.start(), REASON_LINES_BEFORE, REASON_LINES_AFTER, _is_reason):
                yield file.fault(match.start(), f"{name} needs a comment beside it that says why it is right")
    folders = file.folders
    module = folders[1] if len(folders) > 1 else ""
    if module not in _PHONE_MODULES:
        for match in _SYSTEM_BRANCH.finditer(file.code):
            yield file.fault(match.start(), "a branch for another system: servers are for Linux")
    if folders[:1] != ["Sources"]:
        return
    if module not in _ENVIRONMENT_READERS:
        for match in file.code_matches(_ENVIRONMENT):
            yield file.fault(match.start(), "logic never reads the environment: take it from the configuration")
    if module not in _SQL_MODULES and not set(folders) & set(_SQL_FOLDERS):
        for match in _SQL.finditer(file.strings):
            yield file.fault(match.start(), "SQL stands only in Store/ and Migrations/")
    if file.path.endswith(("ErrorMap.swift", "Problem+RPCError.swift")):
        for match in file.code_matches(_DEFAULT_CASE):
            if _TYPE_CASE.search(_block_before(file.code, match.start())):
                continue
            yield file.fault(match.start(), "an error map names every case: no default")


def _test_names(file):
    for match in file.code_matches(_TEST):
        function = _TEST_FUNCTION.search(file.code, match.end())
        if function and not _SENTENCE.fullmatch(function.group(1)):
            yield file.fault(
                function.start(1), f"{function.group(1)} is no sentence: @Test func `Calls that end late are counted`()")
    for match in _TEST_WITH_TITLE.finditer(file.text):
        if file.code[match.start()] == "@":
            kind = match.group(1)
            name = "its raw identifier" if kind == "Test" else "its type's name"
            yield file.fault(match.start(), f"@{kind} has no title beside {name}")
    for match in file.code_matches(_BARE_SUITE):
        yield file.fault(match.start(), "a type with tests is a suite: @Suite is for traits only")


def _block_before(code, offset):
    """What stands between the brace that opens the block around `offset`, and `offset`."""
    depth = 0
    for index in range(offset - 1, -1, -1):
        if code[index] == "}":
            depth += 1
        elif code[index] == "{":
            if depth == 0:
                return code[index:offset]
            depth -= 1
    return code[:offset]


def _is_reason(comment):
    return not comment.startswith("///") or _ARGUES.search(comment) is not None
