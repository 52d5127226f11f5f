"""As much of protobuf's wire format as the benchmark's messages need."""


def varint(number):
    """A number, seven bits a byte, the lowest first."""
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def int32_value(number):
    """A google.protobuf.Int32Value; the default value is not written."""
    return b"" if number == 0 else b"\x08" + varint(number)


def texts(*fields):
    """A message of text fields: pairs of a field's number and its text."""
    out = b""
    for number, text in fields:
        content = text.encode()
        out += varint(number << 3 | 2) + varint(len(content)) + content
    return out
