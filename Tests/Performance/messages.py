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


def field(message, wanted):
    """The bytes of a text or message field; empty if the message has none."""
    found = b""
    position = 0

    def read_varint():
        nonlocal position
        number = shift = 0
        while True:
            byte = message[position]
            position += 1
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number

    while position < len(message):
        key = read_varint()
        length_or_number = read_varint()
        if key & 7 == 2:
            if key >> 3 == wanted:
                found = message[position:position + length_or_number]
            position += length_or_number
        elif key & 7 != 0:
            raise ValueError(f"a field of wire type {key & 7} was not expected")
    return found
