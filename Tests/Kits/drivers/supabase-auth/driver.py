"""A driver of supabase-auth, Supabase's client for Python; Tests/Kits/README.md has the protocol."""

import asyncio
import contextvars
import json
import os
import pathlib
import sys
import time
import types

import supabase_auth
from supabase_auth._async import gotrue_client

offset = contextvars.ContextVar("offset", default=0)
# The client reads the clock by names of its modules.
supabase_auth.types.time = lambda: time.time() + offset.get()
gotrue_client.time = types.SimpleNamespace(time=supabase_auth.types.time)
clients, running = {}, {}


def write(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


class Storage(supabase_auth.AsyncSupportedStorage):
    """A file with the session, beside it in the form of the kits' records, with the faults of a test."""

    def __init__(self, client, folder, faults):
        self.client, self.faults, self.count, self.is_dead = client, faults, 0, False
        self.path = pathlib.Path(folder) / "record.json"

    async def _operate(self, act):
        if self.is_dead:
            await asyncio.Event().wait()
        self.count += 1
        mode = self.faults["mode"] if self.faults and self.faults["at"] == self.count else None
        if mode == "throw":
            raise OSError("a fault of the store")
        result = act() if mode != "before" else None
        if mode:
            self.is_dead = True
            self.client.say(event="died")
            await asyncio.Event().wait()
        return result

    def _read(self):
        record = json.loads(self.path.read_text()) if self.path.exists() else {"generation": 0, "raw": None}
        return record

    def _write(self, value):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        session = json.loads(value) if value else None
        record = {"version": 1, "generation": self._read()["generation"] + 1, "raw": value, "signOuts": [], "ended": None, "session": session and {
            "accessToken": session["access_token"], "refreshToken": session["refresh_token"], "lifetimeSeconds": session["expires_in"]}}
        temporary = self.path.with_suffix(".new")
        temporary.write_text(json.dumps(record))
        os.replace(temporary, self.path)

    async def get_item(self, key):
        return await self._operate(lambda: self._read()["raw"])

    async def set_item(self, key, value):
        await self._operate(lambda: self._write(value))

    async def remove_item(self, key):
        await self._operate(lambda: self._write(None))


class Client:
    def __init__(self, name, url, store, clockOffsetSeconds=0, faults=None, **_):
        self.name, self.is_dropped, self.tasks = name, False, set()
        self.offset, self.state = clockOffsetSeconds, None
        self.storage = Storage(self, store, faults)
        self.auth = supabase_auth.AsyncGoTrueClient(url=f"{url}/auth/v1", storage=self.storage)
        self.auth.on_auth_state_change(self._changed)

    def say(self, **event):
        if not self.is_dropped:
            write({"client": self.name, **event})

    def _changed(self, event, session):
        state = "signedOut" if event == "SIGNED_OUT" else "signedIn"
        if self.state not in (None, state):
            self.say(event="state", state=state)
        self.state = state

    async def open(self):
        await self.auth.initialize_from_storage()
        return await self.get_state()

    async def get_state(self):
        session = await self.auth._load_session()
        self.state = "signedIn" if session else "signedOut"
        return {"state": self.state}


async def sign_in(client, credentials, **_):
    response = await client.auth.sign_in_with_id_token(
        {"provider": credentials["provider"], "token": credentials["idToken"], "nonce": credentials.get("nonce")})
    return {"userId": response.user.id}


async def token(client, **_):
    session = await client.auth.get_session()
    if session is None:
        raise supabase_auth.errors.AuthSessionMissingError()
    return {"token": session.access_token}


async def call(client, **_):
    if await client.auth.get_user() is None:
        raise supabase_auth.errors.AuthSessionMissingError()
    return {}


async def refresh(client, **_):
    return {"token": (await client.auth.refresh_session()).session.access_token}


async def sign_out(client, **_):
    await client.auth.sign_out({"scope": "local"})
    return {}


async def state(client, **_):
    return await client.get_state()


async def clock(client, offsetSeconds, **_):
    client.offset = offsetSeconds
    return {}


OPERATIONS = {"signIn": sign_in, "token": token, "call": call, "refresh": refresh, "signOut": sign_out, "state": state, "clock": clock}


async def run(request):
    name, op = request.pop("client", None), request.pop("op")
    deadline = request.pop("deadlineMs", None)
    if op == "open":
        clients[name] = Client(name, **request)
        offset.set(clients[name].offset)
        return await clients[name].open()
    if op == "cancel":
        running[request["target"]].cancel()
        return {}
    client = clients[name]
    if op == "drop":
        client.is_dropped = client.storage.is_dead = True
        del clients[name]
        for task in client.tasks:
            task.cancel()
        return {}
    offset.set(client.offset)
    task = asyncio.current_task()
    client.tasks.add(task)
    try:
        # The client has no deadlines of its own.
        return await asyncio.wait_for(OPERATIONS[op](client, **request), deadline and deadline / 1000)
    finally:
        client.tasks.discard(task)


async def serve(request):
    number, client, is_drop = request.pop("id"), clients.get(request.get("client")), request["op"] == "drop"
    try:
        answer = {"ok": await run(request)}
    except asyncio.CancelledError:
        answer = {"error": {"code": "CANCELLED"}}
    except Exception as error:
        answer = {"error": {"code": getattr(error, "code", None) or type(error).__name__, "message": str(error)[:200]}}
    if client is None or not client.is_dropped or is_drop:
        write({"id": number, **answer})


async def main():
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        request = json.loads(line)
        is_drop = request["op"] == "drop"
        task = asyncio.create_task(serve(request))
        running[json.loads(line)["id"]] = task
        if is_drop:
            await task
    os._exit(0)


asyncio.run(main())
