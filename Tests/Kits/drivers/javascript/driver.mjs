// The driver of the JavaScript kit; Tests/Kits/README.md has its protocol.
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { resolve } from "node:path";
import { FaultyStore } from "./faulty-store.mjs";

const folder = process.env.KIT ?? resolve(import.meta.dirname, "../../../../Sources/Kits/JavaScript");
const { Vestibule } = await import(pathToFileURL(`${folder}/vestibule.js`));
const { fileStore } = await import(pathToFileURL(`${folder}/vestibule-node.js`));

const clients = new Map();
const inFlight = new Map();

const write = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);

/** The clocks of a client, which a test sets. */
class TestClock {
  constructor(offsetSeconds, delayFactor) {
    this.offset = offsetSeconds * 1000;
    this.elapsed = 0;
    this.delayFactor = delayFactor;
    this.silenceMilliseconds = 60_000;
  }

  wall = () => Date.now() + this.offset;
  monotonic = () => performance.now() + this.elapsed;
}

class TestClient {
  constructor(name, { url, store, clientId, faults, clockOffsetSeconds = 0, deadlineMs, delayFactor = 1 }) {
    this.name = name;
    this.isDropped = false;
    this.controller = new AbortController();
    this.clock = new TestClock(clockOffsetSeconds, delayFactor);
    this.store = new FaultyStore(fileStore(store), faults, () => this.say({ event: "died" }));
    this.kit = new Vestibule({
      url, clientId, deadlineMs, clock: this.clock, store: this.store,
      // The connections of a client end with it.
      fetch: (address, options) => fetch(address, { ...options, signal: AbortSignal.any([options.signal, this.controller.signal]) }),
    });
  }

  say(event) {
    if (!this.isDropped) write({ client: this.name, ...event });
  }

  /** Tells every change of the state from now on, and an end that was not told yet. */
  listen() {
    let isFirst = true;
    this.kit.onState((state) => {
      if (!isFirst || state.code) this.say({ event: "state", state: state.state, ...(state.code ? { code: state.code } : {}) });
      isFirst = false;
    });
  }

  async watch(options) {
    this.watching = new AbortController();
    try {
      for await (const message of this.kit.events({ ...options, signal: this.watching.signal })) this.say({ event: "message", message });
      this.say({ event: "watchEnded" });
    } catch (error) {
      this.say(this.watching.signal.aborted ? { event: "watchEnded" } : { event: "watchEnded", error: described(error) });
    }
  }

  async drop() {
    this.isDropped = true;
    this.watching?.abort();
    this.controller.abort();
    await this.store.drop();
    this.kit.close();
  }
}

function described(error) {
  if (error?.name === "AbortError") return { code: "CANCELLED" };
  if (error?.name !== "VestibuleError") return { code: "DRIVER", message: String(error?.stack ?? error) };
  const { code, action, status, retryAfter, fields } = error;
  return { code, action, status, retryAfter, ...(Object.keys(fields).length > 0 ? { fields } : {}) };
}

// Methods that the hand-written part of the kit has.
const OWN = {
  "AccountService/DeleteMe": (kit, request, options) => kit.deleteAccount(request, options),
  "AuthService/SignOutEverywhere": (kit, request, options) => kit.signOutEverywhere(request, options),
  "AuthService/LinkProvider": async (kit, request, options) => ({ providers: await kit.linkProvider(request.credentials, options) }),
};
const call = (kit, method, request, options) => (OWN[method] ?? ((kit) => kit.call(method, request, options)))(kit, request, options);

const operations = {
  signIn: ({ kit }, { credentials }, options) => kit.signIn(credentials, options),
  signInAsGuest: ({ kit }, { deviceName }, options) => kit.signInAsGuest(deviceName, options),
  keptGuest: async ({ kit }) => ({ userId: await kit.keptGuest() }),
  absorbGuest: async ({ kit }, { guest }, options) => (await kit.absorbGuest(guest, options), {}),
  state: ({ kit }) => kit.state(),
  token: async ({ kit }, _, options) => ({ token: await kit.accessToken(options) }),
  refresh: async ({ kit }, _, options) => ({ token: await kit.refresh(options) }),
  call: ({ kit }, { method, request }, options) => call(kit, method, request, options),
  signOut: async ({ kit }, _, options) => (await kit.signOut(options), {}),
  beginHosted: async ({ kit }, { redirectUri, provider }, options) => ({ url: await kit.beginSignIn({ redirectUri, provider, ...options }) }),
  finishHosted: ({ kit }, { url }, options) => kit.finishSignIn(url, options),
  watch: async (client, { position }) => (void client.watch({ position }), {}),
  unwatch: async (client) => (client.watching.abort(), {}),
  clock: async ({ clock }, { offsetSeconds, elapsedSeconds }) => {
    clock.offset = offsetSeconds * 1000;
    clock.elapsed = elapsedSeconds * 1000;
    return {};
  },
  operations: async ({ store }) => ({ count: store.count, dead: store.isDead }),
};

async function run({ id, op, client: name, ...members }) {
  if (op === "open") {
    const client = new TestClient(name, members);
    clients.set(name, client);
    const state = await client.kit.state();
    client.listen();
    return state;
  }
  if (op === "cancel") {
    inFlight.get(members.target)?.abort();
    return {};
  }
  const client = clients.get(name);
  if (!client) throw new Error(`there is no client ${name}`);
  if (op === "drop") {
    await client.drop();
    clients.delete(name);
    return {};
  }
  const controller = new AbortController();
  inFlight.set(id, controller);
  try {
    return await operations[op](client, members, { signal: controller.signal, deadlineMs: members.deadlineMs });
  } finally {
    inFlight.delete(id);
  }
}

async function serve(request) {
  const client = clients.get(request.client);
  let answer;
  try {
    answer = { id: request.id, ok: (await run(request)) ?? {} };
  } catch (error) {
    answer = { id: request.id, error: described(error) };
  }
  if (!client?.isDropped || request.op === "drop") write(answer);
}

// A fault of the kit: a promise that nobody waited for.
process.on("unhandledRejection", (error) => {
  process.stderr.write(`unhandled: ${error?.stack ?? error}\n`);
  process.exitCode = 1;
});
for await (const line of createInterface({ input: process.stdin })) serve(JSON.parse(line));
process.exit();
