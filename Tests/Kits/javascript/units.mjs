// Parts of the kit by themselves, with clocks, stores and responses that are made here. Run by Node's own test runner.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import test from "node:test";
import { promisify } from "node:util";
import { EnvelopeReader, envelope } from "../../../Sources/Kits/JavaScript/source/events.js";
import { queryOf } from "../../../Sources/Kits/JavaScript/source/hosted.js";
import { pauseAfter, systemClock } from "../../../Sources/Kits/JavaScript/source/clock.js";
import { fileStore } from "../../../Sources/Kits/JavaScript/vestibule-node.js";
import { Vestibule, VestibuleError, asyncStorageStore, createNonce, memoryStore } from "../../../Sources/Kits/JavaScript/vestibule.js";
import { Vestibule as Small } from "../../../Sources/Kits/JavaScript/vestibule-session.js";
import { errorText, languages } from "../../../Sources/Kits/JavaScript/vestibule-texts.js";

const URL_OF_SERVER = "https://id.example.com/";
const fast = { ...systemClock, delayFactor: 0.001, silenceMilliseconds: 60 };
const json = (value, status = 200, headers = {}) => new Response(JSON.stringify(value), { status, headers });
const tokens = (number) => ({
  tokens: { accessToken: `access${number}`, refreshToken: `refresh${number}`, expiresInSeconds: 600, userId: "user", sessionId: "session" },
});

/** A client that is signed in, whose requests go to `answer(path, options)`. */
async function signedIn(answer, more = {}) {
  const fetch = async (url, options) => (url.endsWith("/SignInWithProvider") ? json(tokens(1)) : answer(new URL(url).pathname, options));
  const vestibule = new Vestibule({ url: URL_OF_SERVER, store: memoryStore(), clock: fast, fetch, ...more });
  await vestibule.signIn({ provider: "apple", idToken: "token" });
  return vestibule;
}

test("an envelope is read in pieces of any size", () => {
  const bytes = [...envelope({ position: "ü1" }), ...envelope({}), ...envelope({ position: "2" })];
  for (let size = 1; size <= bytes.length; size++) {
    const reader = new EnvelopeReader();
    const found = [];
    for (let at = 0; at < bytes.length; at += size) {
      reader.push(Uint8Array.from(bytes.slice(at, at + size)));
      for (let next; (next = reader.next());) found.push(next.value);
    }
    assert.deepEqual(found, [{ position: "ü1" }, {}, { position: "2" }]);
  }
  const huge = new EnvelopeReader();
  huge.push(Uint8Array.from([0, 255, 255, 255, 255]));
  assert.throws(() => huge.next(), { code: "NETWORK" });
});

test("pauses double, and the server's own are kept", () => {
  for (let round = 0; round < 100; round++) {
    assert.ok(pauseAfter(1) <= 200 && pauseAfter(2) <= 400 && pauseAfter(20) <= 5000);
    assert.ok(pauseAfter(1, 7) >= 7000);
  }
});

test("a nonce has 32 bytes, and its hash is that of SHA-256", async () => {
  const { nonce, sha256 } = await createNonce();
  assert.match(nonce, /^[0-9a-f]{64}$/);
  assert.match(sha256, /^[0-9a-f]{64}$/);
  assert.notEqual((await createNonce()).nonce, nonce);
});

test("a stream without a message is lost, and the next one begins at the last position", async () => {
  const positions = [];
  const vestibule = await signedIn((path, { body, signal }) => {
    positions.push(JSON.parse(new TextDecoder().decode(body.subarray(5))).position);
    const stream = new ReadableStream({
      start(controller) {
        controller.enqueue(envelope({ position: `p${positions.length}`, isReset: positions.length === 3 }));
        signal.addEventListener("abort", () => controller.error(signal.reason));
      },
    });
    return new Response(stream);
  });
  const found = [];
  for await (const message of vestibule.events()) {
    found.push(message);
    if (found.length === 2) break;
  }
  assert.deepEqual(positions, ["", "p1", "p2"]);
  assert.deepEqual(found.map((each) => [each.position, each.isReset, each.changes]), [["p1", false, []], ["p3", true, []]]);
});

test("a platform without streams is an error of its own", async () => {
  const vestibule = await signedIn(() => Object.defineProperty(new Response("x"), "body", { value: null }));
  await assert.rejects(vestibule.events().next(), { code: "UNIMPLEMENTED", action: "fix_request" });
});

test("an error has no token in it, and neither has what it is printed as", async () => {
  const vestibule = await signedIn(() => {
    throw new TypeError("fetch failed");
  });
  const error = await vestibule.getMe().catch((error) => error);
  assert.equal(error.code, "NETWORK");
  for (const text of [String(error), error.stack, JSON.stringify(error), Object.entries(error).join()]) {
    assert.ok(!/access1|refresh1/.test(text), text);
  }
});

test("a deadline that is longer than a timer doesn't end a call", async () => {
  const vestibule = await signedIn(() => json({ profile: { userId: "user" } }), { deadlineMs: 1e12 });
  assert.equal((await vestibule.getMe()).userId, "user");
  assert.equal((await vestibule.getMe({}, { deadlineMs: Infinity })).userId, "user");
});

test("what JSON leaves out is there", async () => {
  const vestibule = await signedIn((path) => json(path.endsWith("GetMe") ? { profile: { userId: "u", revision: "3" } } : {}));
  assert.deepEqual(await vestibule.getMe(), { userId: "u", revision: 3, missingFields: [], phoneProven: false, isGuest: false });
  assert.deepEqual(await vestibule.listGroups(), { groups: [] });
});

test("Retry-After is kept where there is no other word", async () => {
  const vestibule = await signedIn(() => new Response("<p>Busy", { status: 503, headers: { "retry-after": "7200" } }));
  const error = await vestibule.getMe({}, { deadlineMs: 1000 }).catch((error) => error);
  assert.deepEqual([error.code, error.status, error.retryAfter], ["UNAVAILABLE", 503, 7200]);
});

test("an account that absorbs this one goes on with its session", async () => {
  let used;
  const vestibule = await signedIn((path, { headers }) => {
    if (path.endsWith("LinkProvider")) return json({ providers: [{ provider: "google" }], session: tokens(2) });
    used = headers.authorization;
    return json({ profile: { userId: "user" } });
  });
  const providers = await vestibule.linkProvider({ provider: "google", idToken: "token" });
  assert.deepEqual(providers.map((each) => [each.provider, each.isDisabled]), [["google", false]]);
  await vestibule.getMe();
  assert.equal(used, "Bearer access2");
});

test("a record that can't be read is kept beside, also if a sign-in comes first", async () => {
  for (const credentials of [{ provider: "apple", idToken: "token" }, { provider: "apple", idToken: "token", fullName: "Maria Santos" }]) {
    const store = memoryStore();
    const key = "vestibule https://id.example.com";
    await store.write(key, "{ half");
    const vestibule = new Vestibule({ url: URL_OF_SERVER, store, fetch: async () => json(tokens(1)) });
    const told = [];
    vestibule.onState((state) => told.push(state));
    await vestibule.signIn(credentials);
    assert.equal(await store.read(`${key}\nunreadable`), "{ half");
    assert.equal((await vestibule.state()).state, "signedIn");
    assert.equal(JSON.parse(await store.read(key)).ended, null);
  }
});

test("a store on AsyncStorage keeps the session", async () => {
  const values = new Map();
  const storage = {
    getItem: async (key) => values.get(key) ?? null,
    setItem: async (key, value) => void values.set(key, value),
    removeItem: async (key) => void values.delete(key),
  };
  await signedIn(() => json({}), { store: asyncStorageStore(storage) });
  const again = new Vestibule({ url: URL_OF_SERVER, store: asyncStorageStore(storage) });
  assert.deepEqual(await again.state(), { state: "signedIn", userId: "user" });
});

test("the file store runs one at a time, and leaves no file behind", async () => {
  const folder = await mkdtemp(join(tmpdir(), "kit-"));
  const other = `${folder}-link`;
  await symlink(folder, other);
  const stores = [fileStore(folder), fileStore(other), fileStore(`${folder}/../${basename(folder)}`)];
  let inside = 0, count = 0;
  await Promise.all(Array.from({ length: 30 }, (_, number) => stores[number % 3].withLock("key", async () => {
    assert.equal(++inside, 1);
    const before = Number(await stores[0].read("key"));
    await stores[number % 3].write("key", String(before + 1));
    count += 1;
    inside -= 1;
  })));
  assert.equal(count, 30);
  assert.equal(await stores[1].read("key"), "30");
  await assert.rejects(stores[0].withLock("key", async () => {
    throw new Error("free again");
  }));
  await stores[1].withLock("key", () => stores[1].remove("key"));
  assert.deepEqual((await readdir(folder)).filter((name) => !/\.(lock|secret)$/.test(name)), []);
  await rm(folder, { recursive: true });
  await rm(other);
});

test("texts are there in each language, by tag and by region", () => {
  assert.ok(languages.length >= 6);
  for (const language of languages) {
    assert.ok(errorText("ACCOUNT_BLOCKED", language).length > 3);
    assert.ok(errorText({ code: "A_CODE_OF_TOMORROW" }, language).length > 3);
  }
  assert.equal(errorText("ACCOUNT_BLOCKED", ["xx", "de-AT"]), errorText("ACCOUNT_BLOCKED", "de"));
  assert.equal(errorText("ACCOUNT_BLOCKED", []), errorText("ACCOUNT_BLOCKED", "en"));
});

/** A store in memory, whose values and listeners a test has in its hands. */
function openStore(values = new Map()) {
  const store = { ...asyncStorageStore({
    getItem: async (key) => values.get(key) ?? null,
    setItem: async (key, value) => void values.set(key, value),
    removeItem: async (key) => void values.delete(key),
  }), values };
  return store;
}

const KEY = `vestibule ${URL_OF_SERVER.slice(0, -1)}`;
const sessionOf = (user) => ({
  accessToken: `access ${user}`, refreshToken: `refresh ${user}`, userId: user, sessionId: `session ${user}`, lifetimeSeconds: 600, receivedAt: Date.now(),
});
const recordOf = (user, more = {}) => JSON.stringify({ version: 1, generation: 1, session: sessionOf(user), ...more });
const refusal = (reason, status = 401) => json({ code: "unauthenticated", details: [{ type: "google.rpc.ErrorInfo", debug: { domain: "vestibule", reason } }] }, status);
const clientOf = (store, answer = () => json({}), more = {}) => new Vestibule({
  url: URL_OF_SERVER, store, clock: fast, fetch: async (url, options) => answer(new URL(url).pathname, options), ...more,
});
/** A request that ends by its signal alone. */
const hanging = (_, { signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
const soon = (milliseconds = 20) => new Promise((resolve) => setTimeout(resolve, milliseconds));

test("a record that can't be read is kept beside by whatever comes first", async () => {
  const store = openStore(new Map([[KEY, "{damaged"]]));
  await clientOf(store, undefined, { clientId: "demo" }).beginSignIn({ redirectUri: "https://app.example.com/" });
  assert.equal(store.values.get(`${KEY}\nunreadable`), "{damaged");
  assert.equal(JSON.parse(store.values.get(KEY)).hosted.length, 1);
});

test("a record of a newer version is left alone", async () => {
  const newer = JSON.stringify({ version: 2, generation: 9, session: { more: true } });
  const store = openStore(new Map([[KEY, newer]]));
  const vestibule = clientOf(store, () => json(tokens(1)), { clientId: "demo" });
  for (const act of [
    () => vestibule.state(), () => vestibule.accessToken(), () => vestibule.signOut(), () => vestibule.beginSignIn({ redirectUri: "https://a.example/" }),
    () => vestibule.signIn({ provider: "apple", idToken: "token", fullName: "Maria" }),
  ]) await assert.rejects(act, { code: "STORE_FAILED" });
  assert.deepEqual([...store.values], [[KEY, newer]]);
});

test("members that this version doesn't know stay in the record", async () => {
  const store = openStore(new Map([[KEY, recordOf("A", { ofTomorrow: 1 })]]));
  await clientOf(store).signOut();
  assert.equal(JSON.parse(store.values.get(KEY)).ofTomorrow, 1);
});

test("an older record of another tab doesn't undo a newer one", async () => {
  let tell;
  const store = { ...openStore(new Map([[KEY, recordOf("A", { generation: 6 })]])), onChange: (listener) => ((tell = listener), () => {}) };
  const states = [];
  clientOf(store).onState((state) => states.push(state.state));
  await soon();
  tell(KEY, JSON.stringify({ version: 1, generation: 5, session: null }));
  tell("another key", JSON.stringify({ version: 1, generation: 9, session: null }));
  tell(KEY, JSON.stringify({ version: 2, generation: 9, session: null }));
  assert.deepEqual(states, ["signedIn"]);
  tell(KEY, JSON.stringify({ version: 1, generation: 7, session: null }));
  assert.deepEqual(states, ["signedIn", "signedOut"]);
});

test("a page out of the browser's cache reads the store again", async () => {
  let tell;
  const store = { ...openStore(new Map([[KEY, recordOf("A")]])), onChange: (listener) => ((tell = listener), () => {}) };
  const states = [];
  clientOf(store).onState((state) => states.push(state.userId));
  await soon();
  store.values.set(KEY, recordOf("B", { generation: 2 }));
  tell();
  await soon();
  assert.deepEqual(states, ["A", "B"]);
});

test("a sign-out doesn't wait for another tab's refresh", async () => {
  const store = openStore(new Map([[KEY, recordOf("A")]]));
  const listeners = [];
  const tab = () => ({ ...store, onChange: (listener) => (listeners.push(listener), () => {}), interrupt: (key) => listeners.forEach((each) => each(key)) });
  const first = clientOf(tab(), hanging, { deadlineMs: 1000 }), second = clientOf(tab(), () => json({}));
  const refreshed = first.refresh().catch((error) => error.code);
  await soon();
  await second.signOut({ deadlineMs: 2000 });
  assert.deepEqual(await second.state(), { state: "signedOut" });
  assert.equal(await refreshed, "SIGNED_OUT");
});

test("a sign-out whose confirmation doesn't come ends at its deadline without an error", async () => {
  const store = openStore(new Map([[KEY, recordOf("A")]]));
  const vestibule = clientOf(store, hanging, { deadlineMs: 200 });
  await vestibule.signOut({ deadlineMs: 50 });
  assert.equal(JSON.parse(store.values.get(KEY)).signOuts.length, 1);
  vestibule.close();
});

test("a sign-out that comes while another is under way is sent, too", async () => {
  const sent = [];
  const store = openStore(new Map([[KEY, recordOf("A", { signOuts: [{ refreshToken: "old" }] })]]));
  const vestibule = clientOf(store, async (_, { body }) => {
    await soon(50);
    sent.push(JSON.parse(body).refreshToken);
    return json({});
  });
  await vestibule.state();
  await vestibule.signOut();
  assert.deepEqual(sent, ["old", "refresh A"]);
  assert.deepEqual(JSON.parse(store.values.get(KEY)).signOuts, []);
});

test("a client that is unknown at revocation ends the asking", async () => {
  const store = openStore(new Map([[KEY, recordOf("A", { session: { ...sessionOf("A"), clientId: "gone" } })]]));
  await clientOf(store, () => json({ error: "invalid_client" }, 401)).signOut();
  assert.deepEqual(JSON.parse(store.values.get(KEY)).signOuts, []);
});

test("callers of a refresh get the session of a sign-in, and no false SIGNED_OUT", async () => {
  const store = openStore(new Map([[KEY, recordOf("A", { session: { ...sessionOf("A"), receivedAt: 0 } })]]));
  const vestibule = clientOf(store, (path, options) => (path.endsWith("SignInWithProvider") ? json(tokens(7)) : hanging(path, options)), { deadlineMs: 1000 });
  const token = vestibule.accessToken();
  await soon();
  await vestibule.signIn({ provider: "apple", idToken: "token" });
  assert.equal(await token, "access7");
  const stopped = vestibule.refresh().catch((error) => error.name);
  await soon();
  vestibule.close();
  assert.equal(await stopped, "AbortError");
});

test("a body without an end is a bad response", async () => {
  const piece = new Uint8Array(1 << 20).fill(97);
  let pieces = 0;
  const endless = (status) => () => new Response(new ReadableStream({ pull: (controller) => (pieces++, controller.enqueue(piece)) }), { status });
  for (const status of [200, 403, 503]) {
    const vestibule = clientOf(openStore(new Map([[KEY, recordOf("A")]])), endless(status));
    const error = await vestibule.createGroupLink({ groupId: "1" }).catch((error) => error);
    assert.deepEqual([error.code, error.status], [status === 503 ? "UNAVAILABLE" : "BAD_RESPONSE", status]);
  }
  assert.ok(pieces < 40, `${pieces} MiB were read`);
});

test("a stream ends at once when its consumer stops", async () => {
  let aborted = 0;
  const vestibule = clientOf(openStore(new Map([[KEY, recordOf("A")]])), (_, { signal }) => {
    signal.addEventListener("abort", () => aborted++);
    return new Response(new ReadableStream({ start: (controller) => controller.enqueue(envelope({ position: "1" })) }));
  }, { clock: { ...fast, silenceMilliseconds: 60_000 } });
  const events = vestibule.events();
  assert.equal((await events.next()).value.position, "1");
  const pending = events.next();
  assert.equal((await events.return()).done, true);
  assert.equal((await pending).done, true);
  assert.equal(aborted, 1);
  const controller = new AbortController();
  const other = vestibule.events({ signal: controller.signal });
  await other.next();
  const next = other.next();
  controller.abort(new Error("gone"));
  await assert.rejects(next, /gone/);
});

test("a redirect is not followed and not repeated", async () => {
  let requests = 0;
  const redirected = (response) => () => (requests++, response());
  const store = () => openStore(new Map([[KEY, recordOf("A")]]));
  await assert.rejects(clientOf(store(), redirected(() => new Response("", { status: 307 }))).getMe(), { code: "BAD_RESPONSE", status: 307 });
  // A platform that follows it all the same.
  const followed = () => Object.defineProperty(json({ profile: { userId: "B" } }), "url", { value: "https://portal.example/login" });
  await assert.rejects(clientOf(store(), redirected(followed)).getMe(), { code: "BAD_RESPONSE" });
  assert.equal(requests, 2);
});

test("a proxy's 502 and 504 repeat what may be repeated", async () => {
  for (const status of [502, 504]) {
    let requests = 0;
    const vestibule = clientOf(openStore(new Map([[KEY, recordOf("A")]])), () => (++requests % 2 ? new Response("<p>", { status }) : json({})));
    await vestibule.listGroups();
    assert.equal(requests, 2);
    await assert.rejects(vestibule.createGroupLink({ groupId: "1" }), { code: "UNAVAILABLE", status });
  }
});

test("an error brings more than its fields", async () => {
  const info = { type: "google.rpc.ErrorInfo", debug: { domain: "vestibule", reason: "USERNAME_TAKEN", metadata: { suggestions: "maria1 maria2" } } };
  const request = { type: "google.rpc.BadRequest", debug: { fieldViolations: [{ field: "user_name", reason: "USERNAME_TAKEN", description: "Taken." }] } };
  const vestibule = clientOf(openStore(new Map([[KEY, recordOf("A")]])), () => json({ code: "already_exists", details: [info, request] }, 409));
  const error = await vestibule.updateMe({ username: "maria" }).catch((error) => error);
  assert.deepEqual([error.code, error.metadata, error.fields], [
    "USERNAME_TAKEN", { suggestions: "maria1 maria2" }, { userName: { code: "USERNAME_TAKEN", message: "Taken." } }]);
});

test("addresses by http are of this machine alone, and one server has one record", async () => {
  const keys = new Set();
  const store = { ...memoryStore(), read: async (key) => (keys.add(key), null) };
  for (const url of ["https://ID.example.com/base/", "HTTPS://id.example.com/base", "https://id.example.com/base//"]) {
    assert.equal(new Vestibule({ url, store }).url, "https://id.example.com/base");
    await new Vestibule({ url, store, clientId: url }).state();
  }
  assert.equal(keys.size, 1);
  for (const url of ["http://localhost:8080", "http://127.0.0.1", "http://[::1]:1/", "http://10.0.2.2:8080"]) new Vestibule({ url, store });
  for (const url of [undefined, "", "/api", "id.example.com", "http://id.example.com", "http://localhost.example.com", "http://127.0.0.1.example.com", "ftp://localhost"]) {
    assert.throws(() => new Vestibule({ url, store }), TypeError, String(url));
  }
});

test("where nothing keeps a session, the app has to say what does", () => {
  const { process } = globalThis;
  globalThis.process = { env: {} };
  try {
    assert.throws(() => new Vestibule({ url: URL_OF_SERVER }), /IndexedDB/);
  } finally {
    globalThis.process = process;
  }
  new Vestibule({ url: URL_OF_SERVER });
});

test("an error of the store has no text of the store's in it", async () => {
  const store = { ...memoryStore(), read: async () => {
    throw Object.assign(new Error("can't parse refresh A"), { code: "EACCES" });
  } };
  const error = await clientOf(store).state().catch((error) => error);
  assert.deepEqual([error.code, error.cause, error.message], ["STORE_FAILED", undefined, "The store failed: Error EACCES"]);
});

test("a token that the app's backend refused is replaced once", async () => {
  let refreshes = 0;
  const vestibule = clientOf(openStore(new Map([[KEY, recordOf("A")]])), () => (refreshes++, json(tokens(2))));
  assert.equal(await vestibule.accessToken(), "access A");
  assert.equal(await vestibule.accessToken({ insteadOf: "access A" }), "access2");
  assert.equal(await vestibule.accessToken({ insteadOf: "access A" }), "access2");
  assert.equal(refreshes, 1);
});

test("a deletion whose response was lost has no false reason", async () => {
  let requests = 0;
  const vestibule = clientOf(openStore(new Map([[KEY, recordOf("A")]])), () => {
    if (requests++ === 0) throw new TypeError("fetch failed");
    return refusal("SESSION_REVOKED");
  });
  const states = [];
  vestibule.onState((state) => states.push(state));
  await vestibule.deleteAccount();
  assert.deepEqual(states, [{ state: "signedIn", userId: "A" }, { state: "signedOut" }]);
});

test("the hosted page needs a client id, and takes the app's parameters", async () => {
  await assert.rejects(clientOf(memoryStore()).beginSignIn({ redirectUri: "https://a.example/" }), TypeError);
  const options = { redirectUri: "https://a.example/", parameters: { prompt: "select_account" } };
  const address = await clientOf(memoryStore(), undefined, { clientId: "demo" }).beginSignIn(options);
  assert.equal(new URL(address).searchParams.get("prompt"), "select_account");
});

test("the parameters of an address are read whatever they are", () => {
  assert.deepEqual(queryOf("app:/callback?code=a%3Db%20c+d&state=x=y&empty&sign=100%#code=1"), {
    code: "a=b c d", state: "x=y", empty: "", sign: "100%" });
  assert.deepEqual(queryOf("https://app.example.com/"), { "": "" });
});

test("a store on one AsyncStorage has one lock", async () => {
  const storage = {};
  let inside = 0;
  await Promise.all([1, 2, 3].map(() => asyncStorageStore(storage).withLock("key", async () => {
    assert.equal(++inside, 1);
    await soon(5);
    inside -= 1;
  })));
});

test("a folder has one lock by whatever name, and nobody waits for it for ever", async () => {
  const folder = await mkdtemp(join(tmpdir(), "kit-"));
  await symlink(folder, `${folder}-link`);
  const held = fileStore(folder), other = fileStore(`${folder}-link`);
  let free;
  const holding = held.withLock("key", () => new Promise((resolve) => (free = resolve)));
  while (!free) await soon(5);
  const vestibule = clientOf(other, undefined, { deadlineMs: 100 });
  await assert.rejects(other.withLock("key", () => {}, AbortSignal.timeout(50)), { name: "TimeoutError" });
  free();
  await holding;
  assert.equal(await other.withLock("key", async () => "free"), "free");
  assert.deepEqual(await vestibule.state(), { state: "signedOut" });
  await rm(folder, { recursive: true });
  await rm(`${folder}-link`);
});

test("workers of a cluster have one lock", async () => {
  const folder = await mkdtemp(join(tmpdir(), "kit-"));
  const program = `
    import cluster from "node:cluster";
    import { fileStore } from ${JSON.stringify(new URL("../../../Sources/Kits/JavaScript/vestibule-node.js", import.meta.url).href)};
    if (cluster.isPrimary) {
      for (let worker = 0; worker < 3; worker++) cluster.fork();
    } else {
      await fileStore(${JSON.stringify(folder)}).withLock("key", async () => {
        process.stdout.write("in ");
        await new Promise((resolve) => setTimeout(resolve, 100));
        process.stdout.write("out ");
      });
      process.exit();
    }`;
  await writeFile(join(folder, "program.mjs"), program);
  const { stdout } = await promisify(execFile)(process.execPath, [join(folder, "program.mjs")]);
  assert.equal(stdout, "in out in out in out ");
  await rm(folder, { recursive: true });
});

test("the tables say the actions that the documentation has", async () => {
  const page = await readFile(new URL("../../../docs/reference/error-codes.md", import.meta.url), "utf8");
  const rows = [...page.matchAll(/^\| `(\w+)` \| (\d+) \| \w+ \| (\w+) \|/gm)];
  assert.ok(rows.length > 150);
  new Vestibule({ url: URL_OF_SERVER });
  // No call of the kit gets what a passkey or a recovery code is refused with, and it makes no proofs of possession.
  const got = rows.filter(([, code, status]) => !(/^(PASSKEY|RECOVERY|DPOP)_/.test(code) && status === "401"));
  for (const [, code, status, action] of got) assert.equal(new VestibuleError(code, "", { status: Number(status) }).action, action, code);
});

test("the work of a guest leaves a page its turns, and ends at the deadline", async () => {
  const { digest } = crypto.subtle;
  // As Chromium does with short messages: nothing else runs until the promises are used up.
  crypto.subtle.digest = async () => new Uint8Array(32).fill(255).buffer;
  let turns = 0;
  const page = setInterval(() => turns++, 5);
  try {
    const fetch = async () => json({ challenge: "challenge", workBits: 20 });
    const vestibule = new Vestibule({ url: URL_OF_SERVER, store: memoryStore(), fetch });
    await assert.rejects(vestibule.signInAsGuest("Browser", { deadlineMs: 300 }), { code: "TIMEOUT" });
    assert.ok(turns > 3, `${turns} turns`);
    const signal = AbortSignal.timeout(50);
    await assert.rejects(vestibule.signInAsGuest("Browser", { signal }), { name: "TimeoutError" });
    assert.equal((await vestibule.state()).state, "signedOut");
  } finally {
    clearInterval(page);
    crypto.subtle.digest = digest;
  }
});

test("a small client keeps a guest that it replaces", async () => {
  const store = memoryStore();
  let answer = (path) => json(path.endsWith("Challenge") ? { challenge: "challenge" } : tokens(1));
  const fetch = async (url) => answer(url);
  await new Vestibule({ url: URL_OF_SERVER, store, fetch }).signInAsGuest();
  answer = () => json({ tokens: { ...tokens(2).tokens, userId: "another", sessionId: "another" } });
  const small = new Small({ url: URL_OF_SERVER, store, fetch });
  await small.signIn({ provider: "apple", idToken: "token" });
  assert.equal(await new Vestibule({ url: URL_OF_SERVER, store, fetch }).keptGuest(), "user");
  const signedOut = [];
  answer = (path) => (signedOut.push(path), json({}));
  await small.signOut();
  assert.equal(signedOut.length, 2);
  assert.equal(await new Vestibule({ url: URL_OF_SERVER, store, fetch }).keptGuest(), undefined);
});
