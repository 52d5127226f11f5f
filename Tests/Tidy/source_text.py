"""Source text taken apart into code, comments and string literals.

Each part is as long as the whole, with spaces for what belongs to the others, so that offsets and line numbers hold.
"""

import re
from dataclasses import dataclass, field
from functools import cached_property


@dataclass(frozen=True)
class Fault:
    """A broken rule, as it is printed."""

    path: str
    line: int
    message: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.message}"


@dataclass
class SourceFile:
    """A file of the project. `path` is relative to the root, with slashes."""

    path: str
    text: str
    _parts: tuple = field(default=None, repr=False)

    @property
    def suffix(self):
        name = self.path.rsplit("/", 1)[-1]
        return name[name.rfind("."):] if "." in name else ""

    @property
    def is_swift(self):
        return self.suffix == ".swift"

    @property
    def is_c(self):
        return self.suffix in (".c", ".h", ".cc", ".cpp", ".hpp")

    @property
    def is_generated(self):
        return "Generated" in self.path.split("/")

    @property
    def folders(self):
        return self.path.split("/")[:-1]

    @cached_property
    def lines(self):
        return self.text.split("\n")

    @cached_property
    def parts(self):
        """(code, comments, strings)"""
        return _Lexer(self.text, nests_comments=self.is_swift, is_swift=self.is_swift).run()

    @property
    def code(self):
        return self.parts[0]

    @property
    def comments(self):
        return self.parts[1]

    @property
    def strings(self):
        return self.parts[2]

    def line_of(self, offset):
        return self.text.count("\n", 0, offset) + 1

    def fault(self, offset, message):
        return Fault(self.path, self.line_of(offset), message)

    def code_matches(self, pattern):
        return re.finditer(pattern, self.code)

    def has_comment_near(self, offset, lines_before, lines_after, accepts):
        """Whether a comment that `accepts` stands on the line of `offset` or near it."""
        comment_lines = self.comments.split("\n")
        line = self.line_of(offset) - 1
        near = comment_lines[max(0, line - lines_before): line + lines_after + 1]
        return any(text.strip() and accepts(text.strip()) for text in near)


class _Lexer:
    """Knows the comments and literals of C and of Swift (nested comments, raw and multi-line strings, interpolation)."""

    def __init__(self, text, nests_comments, is_swift):
        self.text = text
        self.nests_comments = nests_comments
        self.is_swift = is_swift
        self.kinds = bytearray(len(text))  # 0 code, 1 comment, 2 string
        self.position = 0

    def run(self):
        while self.position < len(self.text):
            self._step()
        return tuple(self._part(kind) for kind in range(3))

    def _part(self, wanted):
        return "".join(
            character if kind == wanted or character == "\n" else " "
            for character, kind in zip(self.text, self.kinds)
        )

    def _take(self, count, kind):
        end = min(self.position + count, len(self.text))
        for index in range(self.position, end):
            self.kinds[index] = kind
        self.position = end

    def _step(self):
        rest = self.text[self.position: self.position + 2]
        if rest == "//":
            end = self.text.find("\n", self.position)
            self._take((len(self.text) if end < 0 else end) - self.position, 1)
        elif rest == "/*":
            self._block_comment()
        elif rest[:1] == '"':
            self._string(hashes=0)
        elif self.is_swift and rest[:1] == "#":
            self._hash()
        elif self.is_swift and rest[:1] == "`":
            self._raw_identifier()
        elif not self.is_swift and rest[:1] == "'":
            self._character()
        else:
            self._take(1, 0)

    def _block_comment(self):
        depth = 0
        while self.position < len(self.text):
            rest = self.text[self.position: self.position + 2]
            if rest == "/*" and (depth == 0 or self.nests_comments):
                depth += 1
                self._take(2, 1)
            elif rest == "*/":
                depth -= 1
                self._take(2, 1)
                if depth == 0:
                    return
            else:
                self._take(1, 1)

    def _character(self):
        match = re.compile(r"'(\\.[0-9a-fA-F]*|[^'\\\n])'").match(self.text, self.position)
        self._take(match.end() - match.start() if match else 1, 2 if match else 0)

    def _raw_identifier(self):
        match = re.compile(r"`[^`\n]*`").match(self.text, self.position)
        self._take(match.end() - match.start() if match else 1, 0)

    def _hash(self):
        match = re.compile(r'(#+)"').match(self.text, self.position)
        if not match:
            self._take(1, 0)
            return
        hashes = len(match.group(1))
        self._take(hashes, 2)
        self._string(hashes)

    def _string(self, hashes):
        is_long = self.is_swift and self.text.startswith('"""', self.position)
        quote = '"""' if is_long else '"'
        closing = quote + "#" * hashes
        escape = "\\" + "#" * hashes
        self._take(len(quote), 2)
        while self.position < len(self.text):
            if self.text.startswith(closing, self.position):
                self._take(len(closing), 2)
                return
            if self.is_swift and self.text.startswith(escape + "(", self.position):
                self._take(len(escape) + 1, 2)
                self._interpolation()
            elif self.text.startswith(escape, self.position):
                self._take(len(escape) + 1, 2)
            elif self.text[self.position] == "\n" and not is_long:
                return  # Not closed: the compiler will say so.
            else:
                self._take(1, 2)

    def _interpolation(self):
        depth = 1
        while self.position < len(self.text):
            character = self.text[self.position]
            if character == "(":
                depth += 1
            elif character == ")":
                depth -= 1
                if depth == 0:
                    self._take(1, 2)
                    return
            self._step()
