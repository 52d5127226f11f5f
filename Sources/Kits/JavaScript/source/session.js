// The session: what is stored, one refresh at a time, and when it ends.
import { REST_SECONDS_MAX, Wait, reasonOf, trying } from "./clock.js";
import { VestibuleError, foreignError, signedOutError, storeError } from "./errors.js";
import { SIGN_OUTS_MAX, areTexts, emptyRecord, isFresh, parseRecord } from "./record.js";

// How long signing out at the server rests after a failure, and how long a refresh may have the lock, which others wait for.
const SIGN_OUT_REST_MILLISECONDS = 30_000;
const REFRESH_MILLISECONDS_MAX = 30_000;
// Until when a refresh begins another try.
const REFRESH_TRIES_MILLISECONDS = 10_000;
const NAME_MILLISECONDS = 7 * 86_400_000;

// Why a refresh was given up: the record is about to change. Its callers look again.
const INTERRUPTED = {};

/** Whether a refusal of a refresh means that the session is over. Everything else may pass. */
const endsSession = (error) =>
  error.isOurs && (error.code === "ACCOUNT_BLOCKED" || error.code === "INVALID_GRANT" ||
    (error.status === 401 && error.action === "sign_in_again"));

/** Does it, and makes what it throws an error of the store. */
async function storing(act) {
  try {
    return await act();
  } catch (error) {
    throw error instanceof VestibuleError ? error : storeError(error);
  }
}

export class Session {
  #store;
  #key;
  #transport;
  #clock;
  #deadline;
  #flight;
  // The refusal that says how long to wait, of which token, and until when.
  #rest;
  #receipt;
  #leaving;
  #listeners = new Set();
  /** Called with the user's id when another one or nobody is signed in. */
  watchers = new Set();
  #state;
  #generation = -1;
  #observed = 0;
  #isEndTold = false;
  #signingOut;
  #signOutsAfter = 0;
  #unsubscribe;
  #isClosed = false;

  constructor(store, key, transport, clock, deadlineMilliseconds) {
    this.#store = store;
    this.#key = key;
    this.#transport = transport;
    this.#clock = clock;
    this.#deadline = deadlineMilliseconds;
  }

  // -- The store

  /** The record as it is in the store. */
  async read() {
    this.#unsubscribe ??= this.#store.onChange?.((key, text) => this.#hear(key, text)) ?? (() => {});
    const record = await this.#readOnce();
    if (record.signOuts.length > 0 && this.#clock.monotonic() >= this.#signOutsAfter) this.#sendSignOuts();
    return record;
  }

  /** Another tab has written, or wants to. */
  #hear(key, text) {
    // This page comes out of a cache: what was written meanwhile was not heard.
    if (!key) return this.#readOnce().catch(() => {});
    if (key !== this.#key) return;
    if (text === undefined) return this.#flight?.abort(INTERRUPTED);
    try {
      this.#observe(parseRecord(text), -1);
    } catch {
      // Of a newer version of the app, or not readable.
    }
  }

  async #readOnce() {
    const stamp = this.#observed;
    const record = parseRecord(await storing(() => this.#store.read(this.#key)));
    // Unless another one did, it is set aside.
    if (!record) return this.change((now) => now.generation === 0);
    this.#observe(record, stamp);
    return record;
  }

  async #write(record) {
    record.generation += 1;
    await storing(() => this.#store.write(this.#key, JSON.stringify(record)));
    this.#observe(record, this.#observed);
  }

  #locked(body) {
    const wait = new Wait(this.#clock, this.#deadline);
    return storing(() => this.#store.withLock(this.#key, body, wait.signal)).finally(() => wait.close());
  }

  /** Changes the record under the lock. The change returns false if there is nothing to write. */
  change(change) {
    return this.#locked(async () => {
      const record = await this.#readUnderLock();
      if (this.#clock.wall() - record.pendingName?.keptAt > NAME_MILLISECONDS) record.pendingName = null;
      if (change(record) === false) return record;
      await this.#write(record);
      return record;
    });
  }

  /** One that can't be read is kept beside, and the user is signed out. */
  #readUnderLock() {
    return storing(async () => {
      const text = await this.#store.read(this.#key);
      const record = parseRecord(text);
      if (record) return record;
      await this.#store.write(`${this.#key}\nunreadable`, text);
      return { ...emptyRecord(), ended: { code: "STORE_UNREADABLE" } };
    });
  }

  // -- The state

  /** Calls the listener with the state, and then at each change, until the returned function is called. */
  onState(listener) {
    // The same function may listen twice.
    const entry = { listener, isTold: false };
    this.#listeners.add(entry);
    // The read reports an end that no listener has heard of.
    this.read().catch(() => {}).then(() => {
      if (!entry.isTold && this.#state && this.#listeners.has(entry)) this.#emit(this.#state, [entry]);
    });
    return () => void this.#listeners.delete(entry);
  }

  #observe(record, stamp) {
    // A read that began before a newer record was seen may come in after it, and messages of tabs in any order.
    if (this.#observed !== stamp && record.generation < this.#generation) return;
    this.#observed += 1;
    this.#generation = record.generation;
    const { session, ended } = record;
    const state = stateOf(record);
    const isNew = JSON.stringify(this.#state) !== JSON.stringify(state);
    this.#state = state;
    if (isNew) for (const watcher of this.watchers) watcher(state.userId);
    if (!ended) this.#isEndTold = false;
    const tellsEnd = ended && !session && !this.#isEndTold && this.#listeners.size;
    if (isNew || tellsEnd) this.#emit(tellsEnd ? { ...state, code: ended.code } : state);
    if (tellsEnd) {
      this.#isEndTold = true;
      // In the next turn: the lock may be held now. If it fails, the app hears it once more after a restart.
      this.change((now) => (now.ended && !now.session ? void (now.ended = null) : false)).catch(() => {});
    }
  }

  #emit(state, entries = [...this.#listeners]) {
    if (this.#isClosed) return;
    for (const entry of entries) {
      entry.isTold = true;
      try {
        entry.listener({ ...state });
      } catch (error) {
        // A fault of the app's, which must not stop a refresh.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }

  // -- Tokens

  /** The session with an access token that is good for a while, and another one than the server refused, or than any now. */
  async token(wait, refused, isForced = false) {
    for (;;) {
      const { session } = await wait.for(this.read());
      if (!session) throw signedOutError();
      if (!isForced && session.accessToken !== refused && this.#isFresh(session)) return session;
      const { replaced, until, error } = this.#rest ?? {};
      // The server has said how long to wait.
      const left = replaced === session.refreshToken ? until - this.#clock.monotonic() : 0;
      if (left > 0 && !(await wait.pause(left))) throw error;
      try {
        return await wait.for(this.#refresh(session.refreshToken));
      } catch (error) {
        if (error !== INTERRUPTED) throw error;
        await wait.for(this.#leaving);
      }
    }
  }

  #isFresh(session) {
    const wall = this.#clock.wall() - session.receivedAt;
    // The monotonic clock may stand still while a device sleeps, the other may be set by the user.
    const age = this.#receipt?.accessToken === session.accessToken ? Math.max(wall, this.#clock.monotonic() - this.#receipt.at) : wall;
    return isFresh(session, age);
  }

  #refresh(replaced) {
    if (!this.#flight) {
      const controller = new AbortController();
      const flight = {
        abort(reason) {
          flight.reason = reason;
          controller.abort(reason);
        },
      };
      flight.promise = this.#locked(() => this.#refreshUnderLock(replaced, controller.signal)).catch((error) => {
        throw flight.reason ?? error;
      }).finally(() => {
        if (this.#flight === flight) this.#flight = undefined;
      });
      // The callers may all have stopped waiting.
      flight.promise.catch(() => {});
      this.#flight = flight;
    }
    return this.#flight.promise;
  }

  async #refreshUnderLock(replaced, signal) {
    const record = await this.#readUnderLock();
    const { session } = record;
    if (!session) throw signedOutError();
    // Another tab or process was faster.
    if (session.refreshToken !== replaced && this.#isFresh(session)) return session;
    const wait = new Wait(this.#clock, Math.min(this.#deadline, REFRESH_MILLISECONDS_MAX), signal);
    try {
      const tokens = await trying(wait, () => this.#requestTokens(session, wait), REFRESH_TRIES_MILLISECONDS);
      record.session = this.#received({ ...session, ...tokens });
      await this.#write(record);
      return record.session;
    } catch (error) {
      if (endsSession(error)) {
        const code = error.code === "INVALID_GRANT" ? "REFRESH_TOKEN_INVALID" : error.code;
        await this.#write(Object.assign(record, { session: null, ended: { code } }));
      } else if (error.retryAfter) {
        const until = this.#clock.monotonic() + Math.min(error.retryAfter, REST_SECONDS_MAX) * 1000;
        this.#rest = { replaced: session.refreshToken, until, error };
      }
      throw error;
    } finally {
      wait.close();
    }
  }

  async #requestTokens({ refreshToken, clientId }, wait) {
    if (clientId) {
      return grantedTokens(await this.#transport.form(
        "/oauth2/token", { grant_type: "refresh_token", refresh_token: refreshToken, client_id: clientId }, wait));
    }
    return callTokens((await this.#transport.call("AuthService/RefreshSession", { refreshToken }, undefined, wait)).tokens);
  }

  #received(session) {
    this.#receipt = { accessToken: session.accessToken, at: this.#clock.monotonic() };
    return { ...session, receivedAt: this.#clock.wall() };
  }

  // -- Sign-in and sign-out

  /** Changes the record at once: refreshes that are under way are given up, and their callers wait for the change. */
  #leave(change) {
    const leaving = this.change(change);
    this.#leaving = leaving.catch(() => {});
    this.#flight?.abort(INTERRUPTED);
    return leaving;
  }

  /** Stores a session that was opened, in the place of the one there is, which the same credentials may have opened. */
  async adopt(tokens, change = () => {}) {
    await this.#leave((record) => {
      change(record);
      const { session } = record;
      // Only by its token can the account that the guest has signed in to absorb it.
      if (session?.isGuest && session.userId !== tokens.userId) record.guest = { refreshToken: session.refreshToken, userId: session.userId };
      else if (session?.sessionId !== tokens.sessionId) addSignOuts(record, session);
      record.signOuts = record.signOuts.filter((each) => each.refreshToken !== tokens.refreshToken);
      Object.assign(record, { session: this.#received(tokens), ended: null });
    });
    this.#signOutsAfter = 0;
    await this.read();
  }

  /** Signs out here at once, and at the server as soon as it can be reached. */
  async signOut(wait) {
    this.#store.interrupt?.(this.#key);
    await wait.for(this.#leave((record) => {
      if (!record.session && !record.ended && !record.guest) return false;
      addSignOuts(record, record.session, record.guest);
      Object.assign(record, { session: null, ended: null, guest: null });
    }));
    // Also what was added while others were sent.
    await wait.for(Promise.resolve(this.#signingOut).then(() => this.#sendSignOuts())).catch(() => {});
  }

  #sendSignOuts() {
    this.#signingOut ??= (async () => {
      const wait = new Wait(this.#clock, this.#deadline);
      try {
        this.#signOutsAfter = this.#clock.monotonic() + SIGN_OUT_REST_MILLISECONDS * this.#clock.delayFactor;
        for (let entry; ([entry] = (await this.#readOnce()).signOuts), entry; ) {
          await this.#sendSignOut(entry, wait);
          await this.change((record) => {
            record.signOuts = record.signOuts.filter((each) => each.refreshToken !== entry.refreshToken);
          });
        }
        this.#signOutsAfter = 0;
      } catch {
        // They are in the store.
      } finally {
        wait.close();
        this.#signingOut = undefined;
      }
    })();
    return this.#signingOut;
  }

  /** Returns when the server has confirmed it, or never will. */
  async #sendSignOut({ refreshToken, clientId }, wait) {
    try {
      if (clientId) await this.#transport.form("/oauth2/revoke", { token: refreshToken, client_id: clientId }, wait);
      else await this.#transport.call("AuthService/SignOut", { refreshToken }, undefined, wait);
    } catch (error) {
      if (!error.isOurs || error.status >= 500 || error.status === 429) throw error;
    }
  }

  close() {
    this.#isClosed = true;
    this.#flight?.abort(reasonOf({}));
    this.#unsubscribe?.();
    this.#listeners.clear();
  }
}

/** Who is signed in. */
export const stateOf = ({ session }) =>
  (session ? { state: "signedIn", userId: session.userId, ...(session.isGuest && { isGuest: true }) } : { state: "signedOut" });

/** Has sessions, as far as there are any, ended at the server. */
export function addSignOuts(record, ...sessions) {
  for (const session of sessions) {
    if (session) record.signOuts.push({ refreshToken: session.refreshToken, clientId: session.clientId });
  }
  record.signOuts = record.signOuts.slice(-SIGN_OUTS_MAX);
}

/** The session in SessionTokens. */
export function callTokens(tokens) {
  if (!areTexts(tokens?.accessToken, tokens?.refreshToken)) throw foreignError();
  const { expiresInSeconds, ...session } = tokens;
  return { ...session, lifetimeSeconds: expiresInSeconds | 0 };
}

/** The session in a response of the token endpoint, without the members that it doesn't have. */
export function grantedTokens(answer) {
  const { access_token: accessToken, refresh_token: refreshToken, id_token: idToken, expires_in: expiresInSeconds } = answer ?? {};
  return callTokens({ accessToken, refreshToken, expiresInSeconds, ...(idToken && { idToken }) });
}
