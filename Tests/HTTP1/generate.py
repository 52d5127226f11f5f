"""What clients send on connections of HTTP/1.x: the known shapes of request smuggling, and generated requests, most of them
spoiled somewhere. A request that was not spoiled comes with what it means."""

import random

HOST = b"Host: x\r\n"
POST = b"POST /p HTTP/1.1\r\n" + HOST
NEXT = b"GET /next HTTP/1.1\r\n" + HOST + b"\r\n"
SMUGGLED = b"GET /smuggled HTTP/1.1\r\n" + HOST + b"\r\n"

# Ways to write Transfer-Encoding that one server on the way takes for chunked and another one not.
OBFUSCATED = [
    b"Transfer-Encoding: xchunked", b"Transfer-Encoding : chunked", b"Transfer-Encoding:chunked", b"Transfer-Encoding:\tchunked",
    b"Transfer-Encoding: chunked\t", b"Transfer-Encoding:\x0bchunked", b"Transfer-Encoding: \x0cchunked",
    b"Transfer-Encoding: chunked\x0b", b" Transfer-Encoding: chunked", b"\tTransfer-Encoding: chunked",
    b"X: y\nTransfer-Encoding: chunked", b"X: y\rTransfer-Encoding: chunked", b"Transfer-Encoding\r\n : chunked",
    b"Transfer-Encoding:\r\n chunked", b"Transfer-Encoding: chunked\r\nTransfer-Encoding: x",
    b"Transfer-Encoding: x\r\nTransfer-Encoding: chunked", b"Transfer-Encoding: chunked, identity",
    b"Transfer-Encoding: identity, chunked", b"Transfer-Encoding: 'chunked'", b'Transfer-Encoding: "chunked"',
    b"Transfer-Encoding: chunked\0", b"Transfer-Encoding: ch\0unked", b"Transfer-Encoding\0: chunked",
    b"TRANSFER-ENCODING: CHUNKED", b"Transfer_Encoding: chunked", b"Transfer-Encoding: chunked;a=b",
    b"Transfer-Encoding:", b"Transfer-Encoding: ,chunked", b"Transfer-Encoding: chunked,", b"Transfer-Encoding: \xffchunked",
    b"Transfer-Encoding: chunked\r\n\r", b"Transfer-Encoding: gzip, chunked", b"Transfer-Encoding: identity",
    b"Transfer-Encoding: cow\r\nTransfer-Encoding: chunked", b"Transfer-\r\nEncoding: chunked", b"Foo: bar\r\n\rTransfer-Encoding: chunked",
]
CONTENT_LENGTHS = [
    b"Content-Length: 0", b"Content-Length: 5", b"Content-Length: +5", b"Content-Length: -5", b"Content-Length: 05",
    b"Content-Length: 5 ", b"Content-Length:\t5", b"Content-Length: 5, 5", b"Content-Length: 5,6", b"Content-Length: 5 6",
    b"Content-Length: 0x5", b"Content-Length: 5\r\nContent-Length: 5", b"Content-Length: 5\r\nContent-Length: 6",
    b"Content-Length: 6\r\nContent-Length: 5", b"Content-Length : 5", b"Content-Length:5", b"Content-Length: ", b"Content-Length: 5\0",
    b"Content-Length: 18446744073709551621", b"Content-Length: 9223372036854775808", b"Content-Length: 4294967301",
    b"Content-Length: \x0b5", b"Content-Length: 5\x0b", b"Content-Length\r\n: 5", b"Content-Length:\r\n 5", b"Content-Length: 5;",
    b"Content-Length: 1_0", b"Content-Length: \xd9\xa5", b"Content_Length: 5", b"CONTENT-LENGTH: 5", b"Content-Length: 5.",
]
CHUNKS = [
    b"5\r\nhello\r\n0\r\n\r\n", b"5\nhello\n0\n\n", b"5\r\nhello\r\n0\r\n\n", b"5\r\nhello0\r\n\r\n", b"05\r\nhello\r\n00\r\n\r\n",
    b"5 \r\nhello\r\n0\r\n\r\n", b" 5\r\nhello\r\n0\r\n\r\n", b"5;\r\nhello\r\n0\r\n\r\n", b"5;a\r\nhello\r\n0;b=\"c\"\r\n\r\n",
    b"5;a\nb\r\nhello\r\n0\r\n\r\n", b"5;\n\r\nhello\r\n0\r\n\r\n", b"5\r\r\nhello\r\n0\r\n\r\n", b"5\rX\nhello\r\n0\r\n\r\n",
    b"0x5\r\nhello\r\n0\r\n\r\n", b"+5\r\nhello\r\n0\r\n\r\n", b"-5\r\nhello\r\n0\r\n\r\n", b"5_0\r\nhello\r\n0\r\n\r\n",
    b"10000000000000005\r\nhello\r\n0\r\n\r\n", b"fffffffffffffffb\r\nhello\r\n0\r\n\r\n", b"5\r\nhello\r\n0\r\nX: y\r\n\r\n",
    b"5\r\nhello\r\n0\r\nContent-Length: 9\r\nTransfer-Encoding: x\r\n\r\n", b"5\r\nhello\r\n0\r\nX : y\r\n\r\n",
    b"5\r\nhello\r\n0\r\nX: y\n\r\n", b"5\r\nhello\r\n0\r\n X: y\r\n\r\n", b"5\r\nhelloX\r\n0\r\n\r\n", b"5\r\nhello\n0\r\n\r\n",
    b"5\r\nhello\rX0\r\n\r\n", b"5\r\nhello\r\n\r\n0\r\n\r\n", b"5\r\nhello\r\n0\r\n", b"\r\n5\r\nhello\r\n0\r\n\r\n", b"0\r\n\r\n",
    b"5;" + b"a" * 300 + b"\r\nhello\r\n0\r\n\r\n", b"000000000000000000005\r\nhello\r\n0\r\n\r\n", b"5;a=\"\\\"\r\nhello\r\n0\r\n\r\n",
    b"5\t;a\r\nhello\r\n0\r\n\r\n", b"5;\0\r\nhello\r\n0\r\n\r\n", b"g\r\nhello\r\n0\r\n\r\n", b"5\r\nhello\r\nend\r\n\r\n",
    *(b"5" + extension + b"\r\nhello\r\n0" + extension + b"\r\n\r\n" for extension in (
        b";", b";a;", b";;a", b"; a", b";a ", b";a b", b";a =b", b";a= b", b";a=", b";=b", b";a=b=c", b";\xd7=b", b";a=\xd7", b";a=b;c",
        b';a="b', b';a="\xd7"', b';a="\\""', b';a="\\"', b';a="b"c', b';a="b";c', b';a="b" ', b';a=""', b';a="\t"', b";a='b'")),
]
HEADS = [
    b"GET / HTTP/1.1\n" + HOST + b"\r\n", b"GET / HTTP/1.1\r\nHost: x\n\r\n", b"GET / HTTP/1.1\r\nHost: x\r\n\n",
    b"GET / HTTP/1.1\r\nHost : x\r\n\r\n", b"GET / HTTP/1.1\r\n Host: x\r\n\r\n", b"GET / HTTP/1.1\r\n" + HOST + b"X: a\r\n b\r\n\r\n",
    b"GET / HTTP/1.1\r\n" + HOST + b"X: a\0b\r\n\r\n", b"GET / HTTP/1.1\r\n" + HOST + b"X: a\rb\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.1\r\n" + HOST + HOST + b"\r\n", b"GET / HTTP/1.1\r\nHost: x, y\r\n\r\n", b"GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
    b"GET http://y/ HTTP/1.1\r\n" + HOST + b"\r\n", b"GET http://x/ HTTP/1.1\r\n" + HOST + b"\r\n", b"GET / HTTP/1.0\r\n\r\n",
    b"GET / HTTP/0.9\r\n\r\n", b"GET /\r\n", b"GET / HTTP/2.0\r\n" + HOST + b"\r\n", b"GET / HTTP/1.2\r\n" + HOST + b"\r\n",
    b"GET  / HTTP/1.1\r\n" + HOST + b"\r\n", b"GET /  HTTP/1.1\r\n" + HOST + b"\r\n", b"GET\t/ HTTP/1.1\r\n" + HOST + b"\r\n",
    b"GET /a b HTTP/1.1\r\n" + HOST + b"\r\n", b"GET /\x7f HTTP/1.1\r\n" + HOST + b"\r\n", b"GET /\xff HTTP/1.1\r\n" + HOST + b"\r\n",
    b"GET /#a HTTP/1.1\r\n" + HOST + b"\r\n", b"GET a HTTP/1.1\r\n" + HOST + b"\r\n", b"OPTIONS * HTTP/1.1\r\n" + HOST + b"\r\n",
    b"GET * HTTP/1.1\r\n" + HOST + b"\r\n", b"CONNECT x:443 HTTP/1.1\r\n" + HOST + b"\r\n", b"get / HTTP/1.1\r\n" + HOST + b"\r\n",
    b"BREW / HTTP/1.1\r\n" + HOST + b"\r\n", b"G\0ET / HTTP/1.1\r\n" + HOST + b"\r\n", b"GET / http/1.1\r\n" + HOST + b"\r\n",
    b"GET / HTTP/1.1 \r\n" + HOST + b"\r\n", b"GET / HTTP/1.1\r\r\n" + HOST + b"\r\n", b"\r\n" + NEXT, b"\r\n\r\n" + NEXT, b"\n" + NEXT,
    b"\r" + NEXT, b" " + NEXT, b"GET / HTTP/1.1\r\n" + HOST + b"Connection: upgrade\r\nUpgrade: h2c\r\n\r\n",
    b"GET / HTTP/1.1\r\n" + HOST + b": a\r\n\r\n", b"GET / HTTP/1.1\r\n" + HOST + b"a\r\n\r\n", b"GET / HTTP/1.1\r\n" + HOST + b"a b: c\r\n\r\n",
    b"GET / HTTP/1.1\r\n" + HOST + b"\xc3\xa4: c\r\n\r\n", b"GET / HTTP/1.1\r\n" + HOST + b"a: \xc3\xa4\x80\r\n\r\n",
    b"GET / HTTP/1.1\r\n" + HOST + b"X: a\x01\r\n\r\n", b"GET / HTTP/1.1\r\n" + HOST + b"X: a\x7f\r\n\r\n", b"HEAD / HTTP/1.1\r\n" + HOST + b"\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
]


def known():
    """Connections by hand: each shape alone and with a request behind it, both words for a length, in both orders."""
    for head in HEADS:
        yield head
        yield head + NEXT
    for coding in OBFUSCATED:
        for body in (b"0\r\n\r\n", b"5\r\nhello\r\n0\r\n\r\n", b"", b"hello"):
            yield POST + coding + b"\r\n\r\n" + body + SMUGGLED
            for length in (b"Content-Length: 5\r\n", b"Content-Length: 0\r\n", b"Content-Length: " + str(len(body + SMUGGLED)).encode() + b"\r\n"):
                yield POST + coding + b"\r\n" + length + b"\r\n" + body + SMUGGLED
                yield POST + length + coding + b"\r\n\r\n" + body + SMUGGLED
                yield POST.replace(b"1.1", b"1.0") + length + coding + b"\r\n\r\n" + body + SMUGGLED
    for length in CONTENT_LENGTHS:
        for body in (b"hello", b"", b"hello!"):
            yield POST + length + b"\r\n\r\n" + body + SMUGGLED
            yield b"GET / HTTP/1.1\r\n" + HOST + length + b"\r\n\r\n" + body + SMUGGLED
    for chunks in CHUNKS:
        yield POST + b"Transfer-Encoding: chunked\r\n\r\n" + chunks + SMUGGLED
        yield POST + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n" + chunks + NEXT
        # The one of the two that does not mind the empty line judges the rest alone.
        yield b"\r\n" + POST + b"Transfer-Encoding: chunked\r\n\r\n" + chunks + NEXT


TOKEN = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~"
NAMES = [b"Accept", b"User-Agent", b"X-Request-Id", b"Authorization", b"Cookie", b"Keep-Alive", b"Upgrade-Insecure-Requests", b"TE",
         b"Trailer", b"Expect", b"Proxy-Connection", b"Content-Type"]
VALUES = [b"", b"*/*", b"a, b", b"Bearer abc.def", b"text/html;q=0.9", b"100-continue", b"trailers", b"\xc3\xa4", b"a\tb", b'"x"']
METHODS = [b"GET", b"POST", b"PUT", b"DELETE", b"PATCH", b"HEAD", b"OPTIONS"]
PIECES = [b"\r\n", b"\n", b"\r", b" ", b"\t", b"\0", b":", b",", b";", b"0", b"\x0b", b"\x7f", b"\xff", b"\r\n ", b"\r\n\r\n",
          b"chunked", b"Transfer-Encoding: chunked\r\n", b"Content-Length: 3\r\n", b"Host: y\r\n", b"HTTP/1.1", b"\r\r\n", b"\n\r\n"]


def mixed_case(name, chance):
    return bytes(byte ^ 0x20 if 65 <= byte & 0xDF <= 90 and chance.random() < 0.3 else byte for byte in name)


def whole_request(chance):
    """A request that is HTTP/1.1, and what it means: method, target, body."""
    method = chance.choice(METHODS)
    target = b"/" + bytes(chance.choice(b"abc/?=&%20.~-_;,:@!$'()*+") for _ in range(chance.randrange(12)))
    lines = [chance.choice((b"Host: x", b"host:x", b"HOST:  example.org:80 "))]
    for _ in range(chance.randrange(4)):
        name = chance.choice(NAMES) if chance.random() < 0.8 else bytes(chance.choice(TOKEN) for _ in range(chance.randrange(1, 9)))
        lines.append(mixed_case(name, chance) + chance.choice((b":", b": ", b":\t")) + chance.choice(VALUES))
    body = bytes(chance.choice(b"abc\r\n0: \xff") for _ in range(chance.choice((0, 1, 5, 40))))
    framing = chance.randrange(3) if method != b"HEAD" else 0
    wire = b""
    if framing == 0:
        body = b""
    elif framing == 1:
        lines.append(mixed_case(b"Content-Length", chance) + b": " + chance.choice((b"%d", b"0%d", b"%d ")) % len(body))
        wire = body
    else:
        lines.append(mixed_case(b"Transfer-Encoding: chunked", chance))
        at = 0
        while at < len(body):
            part = body[at:at + chance.randrange(1, 20)]
            at += len(part)
            extension = chance.choice((b"", b"", b"", b";a", b";a=b", b';a="b c"'))
            wire += chance.choice((b"%x", b"%X", b"0%x")) % len(part) + extension + b"\r\n" + part + b"\r\n"
        wire += chance.choice((b"0", b"00")) + b"\r\n" + chance.choice((b"", b"", b"X-T: 1\r\n", b"a: b\r\nc:d\r\n")) + b"\r\n"
    chance.shuffle(lines)
    head = method + b" " + target + b" HTTP/1.1\r\n" + b"".join(line + b"\r\n" for line in lines) + b"\r\n"
    return head + wire, (method.decode(), target.decode(), body)


def spoil(text, chance):
    """Changes something somewhere."""
    at = chance.randrange(len(text) + 1)
    how = chance.randrange(7)
    if how == 0:
        return text[:at] + chance.choice(PIECES) + text[at:]
    if how == 1:
        return text[:at] + text[at + chance.randrange(1, 4):]
    if how == 2:
        return text[:at] + bytes([chance.randrange(256)]) + text[at + 1:]
    lines = text.split(b"\r\n")
    line = chance.randrange(len(lines))
    if how == 3:
        lines.insert(line, chance.choice(lines))
    elif how == 4:
        lines.insert(line, chance.choice(OBFUSCATED + CONTENT_LENGTHS))
    elif how == 5:
        lines[line] = chance.choice((b" ", b"\t", b"")) + lines[line] + chance.choice((b" ", b"\t", b"\0", b"\r"))
    else:
        other = chance.randrange(len(lines))
        lines[line], lines[other] = lines[other], lines[line]
    return b"\r\n".join(lines)


def generated(seed):
    """A connection, and what its requests mean if none was spoiled, else None."""
    chance = random.Random(seed)
    requests = [whole_request(chance) for _ in range(chance.choice((1, 1, 2, 3)))]
    text = b"".join(wire for wire, _ in requests)
    if chance.random() < 0.25:
        return text, [meaning for _, meaning in requests]
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        text = spoil(text, chance)
    return text or b"\r\n", None
