"""Rules for C and C++."""

import re

FUNCTION_LINES_MAX = 70
FUNCTION_REASON = re.compile(r"Long because \S")

# Calls without a bound, with hidden state, or through a shell; and what to use.
BANNED = {
    "alloca": "malloc with a named maximum",
    "asctime": "strftime", "ctime": "strftime", "gmtime": "gmtime_r", "localtime": "localtime_r",
    "atof": "strtod", "atoi": "strtol", "atol": "strtol", "atoll": "strtoll",
    "fscanf": "a parser", "scanf": "a parser", "sscanf": "a parser",
    "gets": "fgets",
    "mktemp": "mkstemp", "tempnam": "mkstemp", "tmpnam": "mkstemp",
    "popen": "posix_spawn", "system": "posix_spawn",
    "rand": "getrandom", "srand": "getrandom",
    "sprintf": "snprintf", "vsprintf": "vsnprintf",
    "stpcpy": "memcpy", "strcat": "memcpy", "strcpy": "memcpy", "strncat": "memcpy", "strncpy": "memcpy",
    "strtok": "memchr",
}
_BANNED_CALL = re.compile(r"(?<![\w.>])(" + "|".join(BANNED) + r")\s*\(")
# Swift can reach them too.
_BANNED_IN_SWIFT = re.compile(
    r"(?<![\w.`])(?<!func )(?<!case )(gets|mktemp|popen|sprintf|strcat|strcpy|system|tmpnam|vsprintf)\s*\(")
_NOT_FUNCTIONS = re.compile(r"\b(if|for|while|switch|do|else|return|sizeof|struct|union|enum|namespace|class)\b")
# The header of the RPC layer stands for itself: callers see neither of the libraries behind it.
_HIDDEN_LIBRARY = re.compile(r'#\s*include\s*[<"](nghttp2|openssl)/')


def check(file):
    if file.is_swift and not file.is_generated:
        for match in _BANNED_IN_SWIFT.finditer(file.code):
            yield file.fault(match.start(), f"{match.group(1)} is banned: use {BANNED[match.group(1)]}")
    if not file.is_c:
        return
    for match in _BANNED_CALL.finditer(file.code):
        yield file.fault(match.start(), f"{match.group(1)} is banned: use {BANNED[match.group(1)]}")
    for name, start, lines in functions(file):
        if lines > FUNCTION_LINES_MAX and not file.has_comment_near(start, 3, 0, FUNCTION_REASON.search):
            yield file.fault(start, f"{name} has {lines} lines; a function has at most {FUNCTION_LINES_MAX}")
    if "/CRPC/include/" in "/" + file.path:
        for match in _HIDDEN_LIBRARY.finditer(file.text):
            yield file.fault(match.start(), f"the public header doesn't include {match.group(1)}")


def functions(file):
    """(name, offset of the signature, lines from signature to closing brace) of each function with a body."""
    code = re.sub(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", lambda m: re.sub(r"[^\n]", " ", m.group()), file.code,
                  flags=re.MULTILINE)
    depth, body_depth, declaration = 0, None, 0
    name, start = "", 0
    for offset, character in enumerate(code):
        if character == "{":
            if body_depth is None:
                signature = code[declaration:offset]
                found = _function_name(signature)
                if found:
                    name, body_depth = found, depth
                    start = declaration + len(signature) - len(signature.lstrip())
            depth += 1
            if body_depth is None:
                declaration = offset + 1
        elif character == "}":
            depth -= 1
            if body_depth == depth:
                yield name, start, code.count("\n", start, offset) + 1
                body_depth = None
            if body_depth is None:
                declaration = offset + 1
        elif character == ";" and body_depth is None:
            declaration = offset + 1


def _function_name(signature):
    """The name if the text before a brace is a function's signature, and None for types, tables and namespaces."""
    text = signature.strip()
    if "=" in text.split("(")[0] or not re.search(r"\)\s*(const|noexcept|override|\s)*$", text):
        return None
    match = re.search(r"([\w:~]+)\s*\(", text)
    if not match or _NOT_FUNCTIONS.fullmatch(match.group(1)):
        return None
    return match.group(1)
