"""Random histories out of a seed: clients that share a store, and everything that can happen to them.

What has to hold in each: the checks of the server (`checks.py`); nobody is signed out but by themselves or by the server; an app learns the
reason of an end; in the end, with a network that works, the user can call, and every session that was left is over at the server.
"""

import asyncio
import dataclasses
import itertools
import json
import pathlib
import random
import shutil
import tempfile

from driver import DriverError, matches
from methods import user_id
from server import ScriptedServer

STEPS = (6, 22)
DEADLINE_MILLISECONDS = 2500
DELAY_FACTOR = 0.01
#: Longer than any deadline and the pauses of a test.
HANGING_SECONDS = 15
POLL_SECONDS = 0.003
CONFIRMATION_SECONDS = 4
END_CODE = "SESSION_REVOKED"
REFRESH = ("AuthService/RefreshSession",)
METHODS = REFRESH * 6 + ("AccountService/GetMe", "AuthService/SignOut", "AuthService/SignInWithProvider", "*")
PASSING = ["NETWORK", "TIMEOUT", "UNAVAILABLE", "BAD_RESPONSE", "STORE_FAILED", "CANCELLED", "DATABASE_UNAVAILABLE", "RATE_LIMITED", "INTERNAL",
           # A body of a proxy that looks like ours.
           "UNAUTHENTICATED"]
_runs = itertools.count(1)


@dataclasses.dataclass
class Client:
    """A client of a history."""

    name: str
    driver: object
    skew: float = 0
    elapsed: float = 0
    #: Whether a fault of its store waits or has struck.
    is_armed: bool = False
    #: Answers that haven't come.
    pending: list = dataclasses.field(default_factory=list)


class History:
    """One history."""

    def __init__(self, drivers, seed):
        self.random = random.Random(seed)
        self.seed = seed
        self.drivers = drivers
        self.log = []
        self.clients = {}
        self.advanced = 0
        #: Who may be signed in: user ids, and None.
        self.possible = {None}
        self.may_be_signed_out = False
        #: Whether the server ended the session that there was, and nothing followed.
        self.is_end_untold = False
        self.ends = 0
        self.reasons_told = 0
        self.people = itertools.count(1)
        self.names = itertools.count(1)
        self.run = next(_runs)

    async def live(self):
        """Lives it; raises AssertionError if something is not as it should be."""
        folder = tempfile.mkdtemp(prefix="kits-")
        self.store = pathlib.Path(folder) / "store"
        self.server = await ScriptedServer(access_token_seconds=self.random.choice([600, 600, 60])).start()
        self.server.checks.stores.add(str(self.store))
        # Two clients, of which each may use its access token to its end.
        self.slots = self.random.choice([1, 2, 2])
        self.server.checks.in_order = self.slots == 1
        try:
            for slot in range(self.slots):
                await self._open(slot)
            await self._sign_in(0)
            for _ in range(self.random.randint(*STEPS)):
                await self._step()
            await self._finish()
        except (AssertionError, DriverError) as error:
            history = "\n  ".join(self.log)
            raise AssertionError(f"seed {self.seed}: {error}\n  {history}\n  violations: {self.server.checks.violations}") from error
        finally:
            for client in self.clients.values():
                client.driver.send("drop", client=client.name)
            await self.server.close()
            shutil.rmtree(folder, ignore_errors=True)

    # Clients

    async def _open(self, slot, faults=None):
        name = f"{self.run}-{next(self.names)}"
        skew = self.random.choice([0, 0, 0, 86400 * 3, -86400 * 3, 40])
        # In two processes, or two clients in one.
        driver = self.drivers[slot % len(self.drivers) if self.random.random() < 0.7 else 0]
        client = self.clients[slot] = Client(name, driver, skew, is_armed=faults is not None)
        self._note(f"open {name} skew {skew} faults {faults}")
        more = {"faults": faults} if faults else {}
        self._send(client, "open", url=self.server.url, store=str(self.store), deadlineMs=DEADLINE_MILLISECONDS,
                   delayFactor=DELAY_FACTOR, clockOffsetSeconds=self.advanced + skew, **more)
        await self._settle()

    def _send(self, client, op, **members):
        number, answer = client.driver.send(op, client=client.name, **members)
        client.pending.append(answer)
        return number, answer

    async def _drop(self, slot):
        client = self.clients[slot]
        self._note(f"drop {client.name}")
        answer = await client.driver.ask("drop", client=client.name)
        assert "ok" in answer, answer
        self._read_events(client)

    async def _replace(self, slot, faults=None):
        await self._drop(slot)
        await self._open(slot, faults)

    def _faults(self):
        return {"at": self.random.randint(1, 10), "mode": self.random.choice(["before", "after", "throw"])}

    def _read_events(self, client):
        """Checks the events that came of a client; returns whether it died."""
        died = False
        for event in client.driver.events.pop(client.name, []):
            died = died or event["event"] == "died"
            if event["event"] != "state":
                continue
            self._note(f"{client.name} {event['state']} {event.get('code', '')}")
            if event["state"] == "signedOut":
                code = event.get("code")
                assert self.may_be_signed_out or self.ends > 0 or None in self.possible, f"{client.name} was signed out: {event}"
                if code is not None:
                    assert code == END_CODE and self.ends > 0, f"{client.name} reports {code}"
                    self.reasons_told += 1
        return died

    async def _settle(self):
        """Waits until all answers are there. Dead clients are replaced."""
        self.server.release()
        waited = 0
        while True:
            dead = [slot for slot, client in self.clients.items() if self._read_events(client)]
            for slot in dead:
                self._note(f"{self.clients[slot].name} died")
                await self._replace_dead(slot)
            for client in self.clients.values():
                client.pending = [each for each in client.pending if not each.done()]
            if not any(client.pending for client in self.clients.values()):
                return
            assert waited < HANGING_SECONDS, f"{[(each.name, len(each.pending)) for each in self.clients.values()]} hang"
            await asyncio.sleep(POLL_SECONDS)
            waited += POLL_SECONDS
            self.server.release()

    async def _replace_dead(self, slot):
        await self._drop(slot)
        self.clients[slot].pending = []
        client = self.clients[slot] = Client(f"{self.run}-{next(self.names)}", self.clients[slot].driver)
        self._send(client, "open", url=self.server.url, store=str(self.store), deadlineMs=DEADLINE_MILLISECONDS,
                   delayFactor=DELAY_FACTOR, clockOffsetSeconds=self.advanced)

    def _note(self, text):
        self.log.append(text)

    # Steps

    async def _step(self):
        slot = self.random.randrange(self.slots)
        steps = {
            self._call: 26, self._calls: 12, self._token: 6, self._refresh: 12, self._advance: 22, self._skew: 4, self._fault: 30,
            self._restart: 8, self._arm: 10, self._sign_in: 5, self._sign_out: 3, self._end: 2, self._cancel: 4, self._settled: 10,
        }
        step = self.random.choices(list(steps), list(steps.values()))[0]
        await step(slot)
        if self.random.random() < 0.35:
            await asyncio.sleep(self.random.random() * 0.02)

    async def _call(self, slot):
        client = self.clients[slot]
        more = {"deadlineMs": self.random.choice([30, 200])} if self.random.random() < 0.1 else {}
        self._note(f"{client.name} call {more}")
        _, answer = self._send(client, "call", method="AccountService/GetMe", request={}, **more)
        answer.add_done_callback(self._check_call)

    def _check_call(self, answer):
        if answer.cancelled() or answer.exception() is not None:
            return
        error = answer.result().get("error")
        if error is not None:
            self._note(f"error {error}")
            over = [END_CODE, "SIGNED_OUT", "ACCESS_TOKEN_EXPIRED", "ACCESS_TOKEN_INVALID"]
            if not matches([*PASSING, *over], error["code"]):
                self.server.checks.violations.append(f"a call failed with {error}")

    async def _calls(self, slot):
        for _ in range(self.random.randint(2, 5)):
            await self._call(self.random.randrange(self.slots))

    async def _token(self, slot):
        self._note(f"{self.clients[slot].name} token")
        self._send(self.clients[slot], "token")

    async def _refresh(self, slot):
        self._note(f"{self.clients[slot].name} refresh")
        self._send(self.clients[slot], "refresh")

    async def _cancel(self, slot):
        client = self.clients[slot]
        self._note(f"{client.name} refresh, cancelled")
        number, _ = self._send(client, "refresh")
        await asyncio.sleep(self.random.random() * 0.01)
        client.driver.send("cancel", client=client.name, target=number)

    async def _advance(self, slot):
        # What is on its way would take so long.
        await self._settle()
        seconds = self.random.choice([10, 300, 545, 601, 601, 3000, 86400 * 20])
        self._note(f"advance {seconds}")
        self.advanced += seconds
        for client in self.clients.values():
            client.elapsed += seconds
            self._clock(client)
        self.server.advance(seconds)
        await self._settle()

    async def _skew(self, slot):
        client = self.clients[slot]
        client.skew = self.random.choice([0, 3600, -3600, 86400 * 400, -86400 * 400])
        self._note(f"{client.name} skew {client.skew}")
        self._clock(client)

    def _clock(self, client):
        self._send(client, "clock", offsetSeconds=self.advanced + client.skew, elapsedSeconds=client.elapsed)

    async def _fault(self, slot):
        kind = self.random.choice(
            ["cutRequest", "cutAnswer", "cutAnswer", "cutAnswer", "lose", "delay", "delayRequest", "hold", "holdRequest", "double",
             "reorder", "refuse", "page", "text"])
        fault = {
            "kind": kind, "on": self.random.choice(METHODS), "times": self.random.choice([1, 1, 1, 2, 3, 5]),
            "at": self.random.randint(0, 400), "ms": self.random.randint(1, 60),
            "status": self.random.choice([503, 429, 500] if kind == "refuse" else [200, 401, 403, 404, 429, 500, 502, 503]),
            "body": self.random.choice(["{}", "null", "[]", "{\"tokens\":{}}", "{\"code\":\"unauthenticated\"}", "{\"tok"]),
        }
        fault["code"] = {503: "DATABASE_UNAVAILABLE", 429: "RATE_LIMITED", 500: "INTERNAL"}.get(fault["status"], "")
        if kind == "reorder":
            fault["times"] = 1
        if kind == "text" and fault["status"] == 200 and fault["on"] in ("*", "AuthService/SignOut"):
            # It would be the server's own confirmation.
            fault["status"] = 403
        self._note(f"fault {json.dumps(fault)}")
        self.server.add_fault(**fault)

    async def _settled(self, slot):
        self._note("settle")
        await self._settle()
        if self.random.random() < 0.5:
            self.server.clear_faults()

    async def _restart(self, slot):
        await self._replace(slot)

    async def _arm(self, slot):
        """A client that will die, or whose store will fail once; often while it refreshes."""
        await self._replace(slot, self._faults())
        if self.random.random() < 0.6:
            await self._advance(slot)
            await self._call(slot)

    async def _alone(self, slot, op, outcome, **members):
        """Does what changes who is signed in, with nothing else under way."""
        await self._settle()
        client = self.clients[slot]
        self._note(f"{client.name} {op} {members}")
        if outcome is None:
            self.may_be_signed_out = True
        before = self.possible
        # From now on until it is over, both may be.
        self.possible = before | {outcome}
        _, answer = self._send(client, op, **members)
        await self._settle()
        if not answer.done():
            self.is_end_untold = False
            return
        result = answer.result()
        self._note(f"{op}: {result}")
        if "ok" in result:
            self.possible = {outcome}
            self.is_end_untold = False
        elif result["error"]["code"] not in ("STORE_FAILED", "TIMEOUT"):
            assert result["error"]["code"] in PASSING, result
            self.possible = before
        else:
            self.is_end_untold = False

    async def _sign_in(self, slot):
        person = f"{self.seed}-{next(self.people)}"
        credentials = {"provider": "apple", "idToken": f"person.{person}", "nonce": person}
        await self._alone(slot, "signIn", user_id(person), credentials=credentials)

    async def _sign_out(self, slot):
        await self._alone(slot, "signOut", None)

    async def _end(self, slot):
        await self._settle()
        self._note("the server ends the sessions")
        self.is_end_untold = len(self.possible) == 1 and None not in self.possible
        self.reasons_told = 0
        self.ends += 1
        self.server.methods.end_sessions(END_CODE)
        self.possible = {None}

    # The end

    async def _finish(self):
        await self._settle()
        self.server.clear_faults()
        for slot in list(self.clients):
            await self._drop(slot)
        self.clients = {}
        self._note("the network works")
        await self._open(0)
        client = self.clients[0]
        answer = await client.driver.ask("call", client=client.name, method="AccountService/GetMe", request={})
        self._note(f"last call: {answer}")
        state = (await client.driver.ask("state", client=client.name))["ok"]
        if "ok" in answer:
            found = answer["ok"]["profile"]["userId"]
            assert found in self.possible and state["state"] == "signedIn", f"{found} is signed in, not {self.possible}"
        else:
            assert answer["error"]["code"] in ("SIGNED_OUT", END_CODE), f"the last call failed with {answer}"
            assert None in self.possible and state["state"] == "signedOut", f"signed out, not {self.possible}"
        await self._confirm(client)
        self._read_events(client)
        if self.is_end_untold:
            assert self.reasons_told > 0, "no client reported why the session ended"
        assert not self.server.checks.ended(), "violations"

    async def _confirm(self, client):
        """Every session that was in the store and was left is over at the server."""
        waited = 0
        while True:
            record, = self.server.checks.records() or [{}]
            left = self._left(record)
            if not left and not record.get("signOuts") and not record.get("ended"):
                return
            assert waited < CONFIRMATION_SECONDS, f"sessions {left} go on at the server; the record has {record}"
            await client.driver.ask("state", client=client.name)
            await asyncio.sleep(0.05)
            waited += 0.05

    def _left(self, record):
        current = (record.get("session") or {}).get("refreshToken", "")
        return [number for number in self.server.checks.stored_sessions
                if self.server.methods.sessions[number].ended is None and not current.startswith(f"rt.{number}.")]
