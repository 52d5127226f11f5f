"""Bytes from outside are read by one checked reader, and computed with checked arithmetic.

A cursor's payload (`CursorPayload`) comes back from a client. A subtraction of a time in one ended a service: so no payload is
computed with an operator that traps, each is in the fuzzer, and no method takes a cursor but through the seal.
"""

import re

FUZZER = "Tests/DecoderFuzzTests/"
_KIT = "Sources/ServiceKit/Cursors/"
_PAYLOAD = re.compile(r"\b(?:struct|class|enum|extension)\s+([\w.]+)\s*:[^{]*\bCursorPayload\b")
# An operator between two operands. `&+` and the like wrap, and `->` is none.
_OPERATOR = re.compile(r"(?<=[\w)\]]) (?:[-+*/%]|[-+*/]=|<<) (?=[\w(.])")
_CHECKED = re.compile(r"\bChecked\(|\bbytes \+= ")
_CONVERSION = re.compile(r"\b(?:Int|UInt)(?:8|16|32|64)?\((?!clamping:|truncatingIfNeeded:|exactly:|bitPattern:)([^()]*)\)")
# A read that the reader makes wider is safe.
_WIDENED = re.compile(r"UInt64\(try reader\.integer\(UInt32\.self\)\)")
_HAND_MADE = re.compile(r"\$0 << 8\)? \| U?Int|\bloadUnaligned\(")
_FIELD = re.compile(r"\b(?:request|begin)\.(pageToken|position|cursor)\b")
_OPENS = re.compile(r"\bopen\(|\bopened\(|\bpage\(|\bisEmpty\b|\btell\(")
_SERVICES = ("IdentityService", "InvitesService", "ProfileService")

# Where bytes are still read by hand, and why nothing there traps. What they read is of a fixed length that was checked, and is shifted
# into a type that has room for it.
READ_BY_HAND = {
    "Sources/Connect/EnvelopeReader.swift": "four bytes into an Int, once five are there",
    "Sources/Connect/PathTable.swift": "a hash of a path, within its length",
    "Sources/IdentityDomain/GuestChallenges.swift": "eight bytes into a UInt64, of a challenge of one length whose code was checked",
    "Sources/IdentityDomain/Passkeys/PasskeyChallenges.swift": "eight bytes into a UInt64, of a challenge of one length whose code was checked",
    "Sources/IdentityDomain/Passkeys/RecoveryCode.swift": "letters of five bits, of a text of 24 of them: 40 bits into a UInt64",
    "Sources/IdentityDomain/RefreshToken.swift": "four bytes into a UInt32, of a token of one length whose code was checked",
    "Sources/IdentityDomain/SignInNonces.swift": "eight bytes into a UInt64, of a nonce of one length whose code was checked",
    "Sources/IdentityService/IdentityParts.swift": "eight random bytes",
    "Sources/Images/ByteReader.swift": "at most seven bytes into an Int, for numbers of three bytes and in either order",
    "Sources/JOSE/JSONWriter.swift": "eight bytes at a time, within the length",
    "Sources/JOSE/RSAWeakness.swift": "a residue that stays below 2^32",
    "Sources/JOSE/SecureRandom.swift": "eight random bytes",
    "Sources/JOSE/VerifiedTokenCache.swift": "a hash of bytes, within their length",
    "Sources/Models/Identifier.swift": "sixteen bytes, counted before",
    "Sources/OutgoingHTTP/PublicAddress.swift": "an address of the system's resolver, whose length is checked",
    "Sources/Kits/Swift/Calls/Envelope.swift": "a length that is written, and one whose four bytes were counted before",
    "Sources/Kits/Swift/SignIn/SHA256Hash.swift": "a hash's own blocks; the kit imports nothing of ours",
    "Sources/Postgres/PostgresCodable.swift": "a cell's integer, after its length was compared with the type's",
    "Sources/Postgres/PostgresUUID.swift": "sixteen bytes, counted before",
    "Sources/Postgres/Query.swift": "a hash of text of ours",
    "Sources/ProviderSimulator/Person.swift": "eight bytes of a hash, in a program for development",
    "Sources/RPC/Metadata.swift": "lengths that the same type wrote",
    "Sources/ServiceKit/Configuration/Values/IPAddress.swift": "sixteen bytes, counted before",
    "Sources/ServiceKit/Log/LineWriter.swift": "eight bytes at a time, within the length",
    "Sources/ServiceModels/CallerProof/CallerProof.swift": "four bytes into a UInt32, of a proof of one length whose code was checked",
}


def payloads(file):
    """The types of a file that are payloads of cursors."""
    if not file.is_swift or file.folders[:1] != ["Sources"] or file.path.startswith(_KIT):
        return []
    return [match.group(1) for match in _PAYLOAD.finditer(file.code)]


def check(file):
    if not file.is_swift or file.is_generated or file.folders[:1] != ["Sources"] or file.folders[1:2] == ["Bytes"]:
        return
    if payloads(file):
        yield from _check_payload(file)
    if file.path not in READ_BY_HAND:
        for match in file.code_matches(_HAND_MADE.pattern):
            yield file.fault(match.start(), "bytes are read by a ByteReader, or say in Tests/Tidy/decoder_rules.py why nothing traps")
    if len(file.folders) > 1 and file.folders[1] in _SERVICES:
        for match in file.code_matches(_FIELD.pattern):
            if not _OPENS.search(_line(file.code, match.start())):
                yield file.fault(match.start(), f"{match.group()} is taken only through a CursorSeal")


def _check_payload(file):
    if "ByteReader" not in file.code:
        yield file.fault(0, "the payload of a cursor is read by a ByteReader")
    for match in _OPERATOR.finditer(file.code):
        if not _CHECKED.search(_line(file.code, match.start())):
            yield file.fault(match.start(), "a number of a cursor is computed with Checked, which never traps")
    for match in _CONVERSION.finditer(_WIDENED.sub(lambda widened: " " * len(widened.group()), file.code)):
        yield file.fault(match.start(), "a number of a cursor is converted by exactly:, clamping: or Checked")


def check_fuzzer(files):
    """`files` are the project's Swift files."""
    fuzzer = "".join(file.text for file in files if file.path.startswith(FUZZER))
    for file in files:
        for name in payloads(file):
            if not re.search(rf"\b{re.escape(name)}\(", fuzzer):
                yield file.fault(0, f"{name} is a cursor's payload and is not in {FUZZER}")


def _line(code, offset):
    return code[code.rfind("\n", 0, offset) + 1:(code.find("\n", offset) + 1 or len(code) + 1) - 1]
