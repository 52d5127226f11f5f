"""A client whose process is killed, beside one in another process on the same store."""

import asyncio
import pathlib
import random
import shutil
import tempfile

from driver import Driver
from server import ScriptedServer

DELAY_FACTOR = 0.01
#: How long a refresh takes here at most, from its request to its end.
REFRESH_SECONDS = 0.02
REQUEST_SECONDS = 5


class Kills:
    """Kills a process while its client refreshes, again and again."""

    def __init__(self, command, seed):
        self.command = command
        self.random = random.Random(seed)
        self.seed = seed
        self.advanced = 0

    async def run(self, count):
        """Kills it `count` times; raises AssertionError if something is not as it should be."""
        folder = tempfile.mkdtemp(prefix="kits-")
        self.store = str(pathlib.Path(folder) / "store")
        self.server = await ScriptedServer().start()
        self.server.checks.stores.add(self.store)
        self.server.checks.in_order = False
        survivor = await Driver.start(self.command)
        try:
            await self._open(survivor, "survivor")
            credentials = {"provider": "apple", "idToken": "person.1", "nonce": "1"}
            assert "ok" in await survivor.ask("signIn", client="survivor", credentials=credentials)
            for number in range(1, count + 1):
                try:
                    await self._kill(survivor)
                except AssertionError as error:
                    raise AssertionError(f"kill {number} of seed {self.seed}: {error}; {self.server.checks.violations}") from error
        finally:
            await survivor.close()
            await self.server.close()
            shutil.rmtree(folder)

    async def _open(self, driver, client):
        answer = await driver.ask(
            "open", client=client, url=self.server.url, store=self.store, delayFactor=DELAY_FACTOR, clockOffsetSeconds=self.advanced)
        assert "ok" in answer, answer

    async def _kill(self, survivor):
        victim = await Driver.start(self.command)
        await self._open(victim, "victim")
        self.advanced += 601
        self.server.advance(601)
        clock = {"offsetSeconds": self.advanced, "elapsedSeconds": self.advanced}
        await survivor.ask("clock", client="survivor", **clock)
        await victim.ask("clock", client="victim", offsetSeconds=self.advanced, elapsedSeconds=601)
        arrived = len(self.server.requests)
        for _ in range(self.random.randint(1, 3)):
            victim.send("call", client="victim", method="AccountService/GetMe", request={})
        if self.random.random() < 0.7:
            # From the moment on in which the server has the request.
            for _ in range(int(REQUEST_SECONDS / 0.001)):
                if len(self.server.requests) > arrived:
                    break
                await asyncio.sleep(0.001)
        await asyncio.sleep(self.random.random() * REFRESH_SECONDS)
        victim.kill()
        await victim.process.wait()
        answer = await survivor.ask("call", client="survivor", method="AccountService/GetMe", request={})
        assert "ok" in answer, f"the other process can't call: {answer}"
        assert (await survivor.ask("state", client="survivor"))["ok"]["state"] == "signedIn"
        assert not self.server.checks.ended(), "violations"
