// Sign-in by credentials, and the session: the smaller of the two modules.
import { browserStore } from "./browser-store.js";
import { Wait, systemClock } from "./clock.js";
import { memoryStore } from "./memory-store.js";
import { Session, stateOf } from "./session.js";
import { signIn } from "./sign-in.js";
import { Transport } from "./transport.js";

const DEADLINE_MILLISECONDS = 30_000;
// Tokens go over TLS, or to this machine; 10.0.2.2 is the machine of Android's emulator.
const ADDRESS = /^(https:|http:\/\/(localhost|127\.0\.0\.1|\[::1]|10\.0\.2\.2)(:|\/|$))/i;

// Node, Bun and Deno have none; React Native has neither, and `browserStore` says so.
const defaultStore = () => (globalThis.indexedDB || !globalThis.process?.versions ? browserStore() : memoryStore());

export class SessionClient {
  constructor(options) {
    if (!ADDRESS.test(options.url)) throw new TypeError("url: not https");
    const url = (this.url = options.url.replace(/\/+$/, "").replace(/^[^/]+..[^/]+/, (origin) => origin.toLowerCase()));
    this.clientId = options.clientId;
    this._deadline = options.deadlineMs ?? DEADLINE_MILLISECONDS;
    this._clock = options.clock ?? systemClock;
    this._transport = new Transport(url, options.fetch ?? ((...request) => fetch(...request)), options.language);
    this._session = new Session(options.store ?? defaultStore(), `vestibule ${url}`, this._transport, this._clock, this._deadline);
  }

  // -- State

  async state() {
    return stateOf(await this._session.read());
  }

  onState(listener) {
    return this._session.onState(listener);
  }

  // -- Sign-in and sign-out

  signIn(credentials, options) {
    return this._waiting(options, (wait) => signIn(this._session, this._transport, credentials, wait));
  }

  signOut(options) {
    return this._waiting(options, (wait) => this._session.signOut(wait));
  }

  // -- Tokens

  async accessToken(options) {
    return (await this._waiting(options, (wait) => this._session.token(wait, options?.insteadOf))).accessToken;
  }

  async refresh(options) {
    return (await this._waiting(options, (wait) => this._session.token(wait, undefined, true))).accessToken;
  }

  close() {
    this._session.close();
  }

  /** What the body gives, which waits for everything by `wait.for`. */
  async _waiting(options, body) {
    const wait = new Wait(this._clock, options?.deadlineMs ?? this._deadline, options?.signal);
    try {
      return await body(wait);
    } finally {
      wait.close();
    }
  }
}
