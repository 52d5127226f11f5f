"""Apps that watch their groups: how soon a phone lands in its group, and what it costs to hold many streams open.

Each stream is a connection of HTTP/1.1 of its own, as that of a phone without a proxy in between.
"""

import asyncio
import json
import os
import random
import statistics
import time
import urllib.request

from processes import BenchError, resident_bytes
from report import Bar, Figure
from service_stack import service_stack

LANDINGS = 50
LANDING_MS_MAX = 100
WATCHERS = 5_000
# Of one account.
WATCHERS_EACH = 100
MEMORY_BYTES_MAX = 150_000_000
# Connections that are being opened at once.
OPENING_MAX = 50
SETTLE_SECONDS = 3
LINE_SECONDS = 20
SETTINGS = {
    "VESTIBULE_GATEWAY_WATCHES_PER_ACCOUNT": str(WATCHERS_EACH),
    "VESTIBULE_GATEWAY_CONNECTIONS_MAX": str(4 * WATCHERS),
    **{f"VESTIBULE_GATEWAY_{kind}_{part}": "1000000" for kind in ("AUTH", "ADDRESS", "ACCOUNT", "CHANGES")
       for part in ("PER_SECOND", "BURST")},
    "VESTIBULE_PROFILE_ADDRESS_PHONE_CLAIMS": "1000000", "VESTIBULE_PROFILE_ADDRESS_PHONE_TRIES": "1000000",
}


def _ask(stack, method, path, token, body=None):
    request = urllib.request.Request(
        f"http://{stack.addresses['gateway']}{path}", None if body is None else json.dumps(body).encode(),
        {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=LINE_SECONDS) as answer:
            return json.load(answer)
    except (OSError, ValueError) as error:
        raise BenchError(f"{method} {path}: {error}") from error


async def _open(stack, token):
    """A stream that has begun."""
    reader, writer = await asyncio.open_connection("127.0.0.1", stack.ports["gateway"])
    writer.write(f"GET /me/events HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {token}\r\n\r\n".encode())
    await _line(reader, b"event: begin")
    return reader, writer


async def _line(reader, wanted):
    """Reads up to a line that has these bytes."""
    while True:
        line = await asyncio.wait_for(reader.readline(), LINE_SECONDS)
        if not line:
            raise BenchError(f"a stream ended before {wanted!r}")
        if wanted in line:
            return


async def _landing(stack, inviter, group):
    """The milliseconds from a save until the phone itself, and the inviter's phone, get the event."""
    guest = stack.access_token()
    phone = f"+63917{random.randrange(10**7):07}"
    member = _ask(stack, "POST", f"/groups/{group}/members", inviter, {"phone_number": phone, "display_name": "Some One"})["id"]
    (own, own_writer), (other, other_writer) = [await _open(stack, token) for token in (guest, inviter)]

    async def told(reader):
        await _line(reader, member.encode())
        return time.monotonic()

    waits = [asyncio.create_task(told(reader)) for reader in (own, other)]
    begun = time.monotonic()
    await asyncio.to_thread(_ask, stack, "PATCH", "/me", guest, {"display_name": "Some One", "phone_number": phone})
    milliseconds = [(at - begun) * 1000 for at in await asyncio.gather(*waits)]
    for writer in (own_writer, other_writer):
        writer.close()
    return milliseconds


async def _landings(stack):
    inviter = stack.access_token()
    group = _ask(stack, "POST", "/groups", inviter, {"name": "Group"})["id"]
    return [await _landing(stack, inviter, group) for _ in range(LANDINGS)]


async def _memory(stack, options):
    """How much more gateway and invites hold while so many watch."""
    tokens = [stack.access_token() for _ in range(WATCHERS // WATCHERS_EACH)]
    names = ("gateway", "invites")
    await asyncio.sleep(SETTLE_SECONDS)
    before = {name: resident_bytes(stack.process_of(name))[0] for name in names}
    room = asyncio.Semaphore(OPENING_MAX)

    async def opened(token):
        async with room:
            return await _open(stack, token)

    streams = await asyncio.gather(*(opened(token) for token in tokens for _ in range(WATCHERS_EACH)))
    await asyncio.sleep(SETTLE_SECONDS)
    more = {name: resident_bytes(stack.process_of(name))[0] - before[name] for name in names}
    # They get events: the connections are not dead.
    group = _ask(stack, "POST", "/groups", tokens[0], {"name": "Group"})["id"]
    await asyncio.gather(*(_line(reader, group.encode()) for reader, _ in streams[:WATCHERS_EACH]))
    for _, writer in streams:
        writer.close()
    for name, count in more.items():
        options.say(f"{name}: {count / 1e6:.1f} MB more for {WATCHERS:,} subscribers")
    return more


def measure(options, scratch):
    """Gives the figures, the bars, and notes."""
    figures, bars = [], []
    for engine in ("postgresql", "distributed"):
        with service_stack(
                options, os.path.join(scratch, f"watching-{engine}"), VESTIBULE_DATABASE_ENGINE=engine, **SETTINGS) as stack:
            landings = asyncio.run(_landings(stack))
            # What streams hold doesn't depend on the database.
            more = asyncio.run(_memory(stack, options)) if engine == "postgresql" else {}
        own, other = (statistics.median(each[place] for each in landings) for place in (0, 1))
        worst = max(max(each) for each in landings)
        total = sum(more.values())
        figures += [
            Figure(f"a save until the phone gets the event, {engine}, median", f"{own:.1f} ms", "",
                   f"{LANDINGS} times; the longest {worst:.0f} ms"),
            Figure(f"a save until the inviter gets the event, {engine}, median", f"{other:.1f} ms", "", ""),
            *(Figure(f"{name}, {WATCHERS:,} subscribers", f"{count / 1e6:.1f} MB more", "", f"{count / WATCHERS / 1000:.1f} kB each")
              for name, count in more.items()),
        ]
        bars.append(Bar(
            f"a save until both phones hear of it, {engine}, median", f"{max(own, other):.1f} ms", f"under {LANDING_MS_MAX} ms",
            max(own, other) < LANDING_MS_MAX))
        if more:
            bars.append(Bar(
                f"memory of {WATCHERS:,} subscribers, gateway and invites", f"{total / 1e6:.1f} MB",
                f"under {MEMORY_BYTES_MAX / 1e6:.0f} MB", total < MEMORY_BYTES_MAX))
    return figures, bars, [
        f"Watching: from PATCH /me with a number that a group waits for until the event is read, by both phones, on both kinds of database; "
        f"the memory is that of {WATCHERS:,} streams over HTTP/1.1, each with a connection of its own, beyond what the programs held before."]
