"""The limits that are constants, read from the sources."""

import re

from swift_source import cell, documentation, name as code, table

CONSTANT = re.compile(
    r"(?P<comment>(?:^[ ]*///[^\n]*\n)+)^[ ]*(?P<access>public |package |private |fileprivate )?static let (?P<name>\w*(?:Max|Limit|Lifetime\w*))"
    r"(?:: \w+)? = (?P<value>[^\n{(]+|\.\w+\([\d_]+\)|Duration\.\w+\([\d_]+\))$", re.MULTILINE)
VALUE = re.compile(r"^[\d_ *.+]+$")
DURATION = re.compile(r"^(?:Duration)?\.(seconds|milliseconds|minutes)\(([\d_]+)\)$")
TYPE = re.compile(r"^( *)(?:\w+ )*(?:extension|enum|struct|class|actor) (\w+(?:\.\w+)*)", re.MULTILINE)
#: What an app or its users meet, and what bounds the work inside.
OUTER = ("Models", "ProfileDomain", "InvitesDomain", "IdentityDomain", "GatewayService", "HTTPJSON", "AccountImport", "Images")
#: Modules that no deployment runs.
OTHER = ("ProviderSimulator", "Load", "LocalPostgres", "LocalStack", "Executables", "ProtocPlugin")


def limits(root):
    """(module, type, name, value, help) of each constant with documentation."""
    for path in sorted((root / "Sources").rglob("*.swift")):
        place = path.relative_to(root).parts
        source = path.read_text(encoding="utf-8")
        for match in CONSTANT.finditer(source):
            value = _value(match["value"].strip())
            if value and "Generated" not in place and place[1] not in OTHER:
                words = documentation(match["comment"]).replace("``", "`")
                yield place[1], _owner(source, match.start("name")) or path.stem, match["name"], value, words


def _owner(source, offset):
    """The type around a declaration: the last before it that is indented less."""
    line = source[source.rfind("\n", 0, offset) + 1:offset]
    column = len(line) - len(line.lstrip(" "))
    owners = [name for spaces, name in TYPE.findall(source[:offset]) if len(spaces) < column]
    return owners[-1] if owners else None


def _value(text):
    if match := DURATION.match(text):
        return f"{int(match[2]):,} {match[1]}"
    if not VALUE.match(text):
        return None
    factors = [float(factor) if "." in factor else int(factor) for factor in text.replace("_", "").split("*")] if "+" not in text else []
    product = 1
    for factor in factors:
        product *= factor
    return f"{product:,.0f}" if factors else None


def page(root, outer):
    """A table of the limits of the outer modules, or of all others."""
    rows = [[code(f"{owner}.{name}"), module, value, cell(words)]
            for module, owner, name, value, words in limits(root) if (module in OUTER) == outer]
    return table(["limit", "module", "value", "of what"], rows)
