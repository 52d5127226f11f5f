"""Rules for error codes: each that the code base can answer is in the one table, with the status that it is answered with."""

import re

TABLE = "proto/vestibule/app/v1/errors.proto"

# Keeps reasons in a table, for operators.
_WORK = "Sources/ServiceStore/Store/Work/"
# Errors of the development programs, and those that a dialect spells in its own words.
_FOREIGN = ("Sources/ProviderSimulator/", "Sources/Load/", "Sources/GatewayService/Dialects/", _WORK)
_ROW = re.compile(
    r"ERROR_REASON_(\w+) = \d+\s*\[\(options\.v1\.http\) = (\d+)(?:, \(options\.v1\.grpc\) = \"(\w+)\")?, "
    r"\(options\.v1\.action\) = \w+\];")
_WORD = r"\"([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)\""
_ARGUMENT = re.compile(r"\b(?:reason|code): (?:\w+ \? [\w.]+ : )?" + _WORD)
_CONSTANT = re.compile(r"\b\w*[rR]eason(?:: String)? = " + _WORD)
_LITERAL = re.compile(_WORD)
_CASE = re.compile(r"\bcase \w+ = " + _WORD)
_DOMAIN = re.compile(r"\.domain\(\s*\.(\w+),\s*reason: " + _WORD)
# The short forms of `.domain`, and the status of each: `.invalid` and `.assertion` name a field.
_SHORT = re.compile(r"\.(invalid|assertion|unauthenticated)\(\s*" + _WORD)
_SHORT_STATUS = {
    "invalid": (422, "INVALID_ARGUMENT"), "assertion": (422, "INVALID_ARGUMENT"), "unauthenticated": (401, "UNAUTHENTICATED")}
_FIELD = re.compile(r"\bfields?:")
_PROBLEM = re.compile(r"Problem\(\s*\.(\w+),\s*code: " + _WORD)

# A code that is answered by gRPC alone with the word of the status.
GRPC = {
    "cancelled": "CANCELLED", "invalidArgument": "INVALID_ARGUMENT", "deadlineExceeded": "DEADLINE_EXCEEDED",
    "notFound": "NOT_FOUND", "alreadyExists": "ALREADY_EXISTS", "permissionDenied": "PERMISSION_DENIED",
    "resourceExhausted": "RESOURCE_EXHAUSTED", "failedPrecondition": "FAILED_PRECONDITION", "aborted": "ABORTED",
    "outOfRange": "OUT_OF_RANGE", "unimplemented": "UNIMPLEMENTED", "internalError": "INTERNAL",
    "unavailable": "UNAVAILABLE", "unauthenticated": "UNAUTHENTICATED",
}
HTTP = {
    "badRequest": 400, "unauthorized": 401, "forbidden": 403, "notFound": 404, "methodNotAllowed": 405,
    "requestTimeout": 408, "conflict": 409, "contentTooLarge": 413, "unsupportedMediaType": 415,
    "unprocessableContent": 422, "tooManyRequests": 429, "internalServerError": 500, "notImplemented": 501,
    "serviceUnavailable": 503, "gatewayTimeout": 504,
}
# The status that the gateway answers a code with (Problem+RPCError.swift there). Without one it depends on whether a field is at fault.
STATUS = {
    "unauthenticated": 401, "permissionDenied": 403, "notFound": 404, "alreadyExists": 409, "aborted": 409,
    "resourceExhausted": 429, "internalError": 500, "unimplemented": 501, "unavailable": 503, "deadlineExceeded": 504,
}
# Those that the gateway answers with another status: services that don't trust each other, and a route's own conflict.
_ANSWERED_OTHERWISE = {"CALLER_PROOF_REQUIRED", "CALLER_PROOF_INVALID", "CALLER_PROOF_EXPIRED", "LAST_PROVIDER", "WEB_STATE_INVALID"}


def check(swift, table):
    """`swift` are the Swift files of the project, `table` is the text of the proto with the table."""
    rows = {name: (int(http), grpc) for name, http, grpc in _ROW.findall(table)}
    found = set()
    for file in swift:
        if not file.path.startswith("Sources/") or "/Generated/" in file.path or file.path.startswith(_FOREIGN):
            continue
        for name, offset in _codes(file):
            found.add(name)
            if name not in rows:
                yield file.fault(offset, f"error code {name} is not in {TABLE}; add it there and run `make proto`")
        for match in _DOMAIN.finditer(file.text):
            code, name = match.groups()
            if name in rows and code in GRPC and rows[name][1] != GRPC[code]:
                yield file.fault(match.start(), f"{name} is answered with {GRPC[code]}, which {TABLE} says otherwise")
            status = STATUS.get(code) or (422 if _FIELD.search(_call(file, match)) else 400)
            if name in rows and name not in _ANSWERED_OTHERWISE and rows[name][0] != status:
                yield file.fault(match.start(), f"{name} is answered with {status}, which {TABLE} says otherwise")
        for match in _SHORT.finditer(file.text):
            form, name = match.groups()
            if name in rows and name not in _ANSWERED_OTHERWISE and rows[name] != _SHORT_STATUS[form]:
                yield file.fault(match.start(), f"{name} is answered with {_SHORT_STATUS[form]}, which {TABLE} says otherwise")
        for match in _PROBLEM.finditer(file.text):
            status, name = match.groups()
            if name in rows and status in HTTP and rows[name][0] != HTTP[status]:
                yield file.fault(match.start(), f"{name} is answered with {HTTP[status]}, which {TABLE} says otherwise")
    for name in sorted(set(rows) - found - set(GRPC.values())):
        yield f"{TABLE}: nothing answers {name}"


def _call(file, match):
    """The code of a call with its arguments, without texts."""
    depth = 0
    for index in range(file.code.index("(", match.start()), len(file.code)):
        depth += {"(": 1, ")": -1}.get(file.code[index], 0)
        if depth == 0:
            return file.code[match.start():index]
    return file.code[match.start():]


def _codes(file):
    name = file.path.rsplit("/", 1)[-1]
    patterns = [_ARGUMENT, _CONSTANT]
    if "ErrorMap" in name:
        patterns = [_LITERAL]
    if name == "HTTPRequestHead.swift":
        patterns = [_CASE]
    for pattern in patterns:
        for match in pattern.finditer(file.text):
            yield match.group(1), match.start(1)
