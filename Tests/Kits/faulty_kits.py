"""Kits with a fault each, as teams that build the rules themselves make them: patched copies of the JavaScript kit."""

import dataclasses
import pathlib
import shutil

KIT = pathlib.Path(__file__).resolve().parents[2] / "Sources/Kits/JavaScript"
MODULES = ("vestibule", "vestibule-node")


@dataclasses.dataclass(frozen=True)
class FaultyKit:
    """A fault, as a replacement in a source file."""

    name: str
    file: str
    old: str
    new: str
    #: The case that finds it, if histories don't.
    case: str | None = None

    def make(self, folder):
        """Writes the kit into a folder, unbundled."""
        folder = pathlib.Path(folder)
        for name in ("source", "Generated"):
            shutil.copytree(KIT / name, folder / name)
        for name in MODULES:
            (folder / f"{name}.js").write_text(f'export * from "./source/{name}.js";\n')
        path = folder / "source" / self.file
        text = path.read_text()
        assert text.count(self.old) == 1, f"{self.name}: {self.file} has {text.count(self.old)} of {self.old}"
        path.write_text(text.replace(self.old, self.new))


FAULTY = [
    FaultyKit(
        "tokens are used before they are stored", "session.js",
        "      await this.#write(record);\n      return record.session;",
        "      setTimeout(() => this.#write(record).catch(() => {}), 15);\n      return record.session;"),
    FaultyKit(
        "tokens that can't be stored are used", "session.js",
        "      await this.#write(record);\n      return record.session;",
        "      await this.#write(record).catch(() => {});\n      return record.session;"),
    FaultyKit("the lock is ignored", "session.js", "storing(() => this.#store.withLock(this.#key, body, wait.signal))", "storing(() => body())"),
    FaultyKit(
        "the record is not read again under the lock", "session.js",
        "if (session.refreshToken !== replaced && this.#isFresh(session)) return session;",
        "session.refreshToken = replaced;"),
    FaultyKit(
        "what another one refreshed is refreshed again", "session.js",
        "if (session.refreshToken !== replaced && this.#isFresh(session)) return session;", "",
        case="session: two processes on one store refresh once"),
    FaultyKit("a 503 ends the session", "session.js", "  error.isOurs && (error.code", "  error.status === 503 || error.isOurs && (error.code"),
    FaultyKit("a portal's 401 ends the session", "session.js", "  error.isOurs && (error.code", "  error.status === 401 || error.isOurs && (error.code"),
    FaultyKit("a lost response ends the session", "session.js", "  error.isOurs && (error.code", '  error.code === "NETWORK" || error.isOurs && (error.code'),
    FaultyKit(
        "an end is not stored", "session.js",
        "        await this.#write(Object.assign(record, { session: null, ended: { code } }));", "        void code;"),
    FaultyKit("the reason of an end is not stored", "session.js", "{ session: null, ended: { code } }", "{ session: null, ended: null && code }"),
    FaultyKit("an offline sign-out is forgotten", "session.js", "if (session) record.signOuts.push(", "if (session) [].push("),
    FaultyKit(
        "a replaced session goes on at the server", "session.js",
        "      else if (session?.sessionId !== tokens.sessionId) addSignOuts(record, session);\n", ""),
    FaultyKit(
        "a guest who signs in is signed out", "session.js", "if (session?.isGuest && session.userId !== tokens.userId)", "if (session?.isForgotten)",
        case="guests: a guest who signs in to an account is kept, and merged"),
    FaultyKit(
        "a guest's sign-in isn't repeated", "guests.js",
        "const { tokens, ...rest } = await trying(wait, async () => {", "const { tokens, ...rest } = await ((_, once) => once())(wait, async () => {",
        case="guests: a lost response repeats the same proof"),
    FaultyKit(
        "a caller's end is the end of the refresh", "session.js",
        "return await wait.for(this.#refresh(session.refreshToken));",
        "const refreshed = this.#refresh(session.refreshToken);\n"
        "wait.signal.addEventListener('abort', () => this.#flight?.abort(wait.signal.reason));\n"
        "return await wait.for(refreshed);",
        case="session: a caller's cancellation ends its own wait alone"),
    FaultyKit(
        "a record is written in place", "file-store.js", "      const temporary = `${pathOf(key)}.new`;",
        "      const temporary = pathOf(key);", case="kills"),
    FaultyKit(
        "the wall clock alone counts", "session.js",
        "this.#receipt?.accessToken === session.accessToken ? Math.max(wall, this.#clock.monotonic() - this.#receipt.at) : wall",
        "Math.max(0, wall)", case="session: after a restart the clock of the receipt counts"),
]
