// Everything: what the smaller module has, and the hosted page, methods, avatars and events.
import { actions } from "../Generated/actions.js";
import { addActions } from "./actions.js";
import { complete, functionsOf, traitsOf } from "./calls.js";
import { TRIES_MAX, pauseAfter } from "./clock.js";
import { VestibuleError, readDetails, signedOutError } from "./errors.js";
import { watch } from "./events.js";
import { forgetGuest, signInAsGuest } from "./guests.js";
import { beginSignIn, finishSignIn } from "./hosted.js";
import { finishRedirect, popup, redirect } from "./redirect.js";
import { detailsOf, route } from "./routes.js";
import { SessionClient } from "./session-client.js";
import { addSignOuts, callTokens } from "./session.js";
import { withPendingName } from "./sign-in.js";

// A token that is refused for one of these, or by the action `refresh`, is shown to the server's refresh, which decides.
const OVER = ["SESSION_EXPIRED", "SESSION_INVALID", "SESSION_REVOKED", "ACCOUNT_OPENED"];
// Node's and Bun's words for a connection that never was.
const UNSENT = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT", "ConnectionRefused"];

/** Whether a request may be sent again after an error. */
function mayRepeat(error, isRepeatable) {
  const { cause, code, status } = error;
  if (isRepeatable) return code === "NETWORK" || [429, 502, 503, 504].includes(status);
  return ((status === 429 || status === 503) && error.isOurs) || UNSENT.includes(cause?.cause?.code ?? cause?.code);
}

/** A UUID, also in pages by http, which have no `crypto.randomUUID`. */
const randomUUID = () => "10000000-1000-4000-8000-100000000000".replace(/[018]/g, (digit) =>
  (digit ^ (crypto.getRandomValues(new Uint8Array(1))[0] & (15 >> (digit / 4)))).toString(16));

/** The user has left: nobody comes back for the guest that is kept. */
function forgetUser(record) {
  addSignOuts(record, record.guest);
  Object.assign(record, { session: null, ended: null, guest: null });
}

export class Vestibule extends SessionClient {
  constructor(options) {
    super(options);
    addActions(actions);
    readDetails(detailsOf);
    this.issuer = options.issuer ?? this.url;
    Object.assign(this, functionsOf(this));
  }

  // -- The hosted page

  beginSignIn(options) {
    return this._waiting(options, (wait) => beginSignIn(this._session, this.url, this.clientId, options, wait));
  }

  finishSignIn(callback, options) {
    return this._waiting(options, (wait) => finishSignIn(this._session, this._transport, this.issuer, this.clientId, callback, wait));
  }

  signInWithRedirect(options) {
    return redirect(this, options);
  }

  finishRedirect() {
    return finishRedirect(this);
  }

  signInWithPopup(options) {
    return popup(this, options);
  }

  // -- Methods

  async call(method, request = {}, options = {}) {
    const { response, hasKey, isPublic, isRepeatable } = traitsOf(method);
    // One key for all tries. An app that wants to try again later gives its own.
    const sent = hasKey && !request.idempotencyKey ? { ...request, idempotencyKey: randomUUID() } : request;
    return complete(response, await this._authorized({ isPublic, isRepeatable, ...options }, (token, wait) =>
      this._transport.call(method, sent, token, wait)));
  }

  deleteAccount(request, options) {
    return this.call("AccountService/DeleteMe", request, {
      ...options, isRepeatable: true, isEnd: true, after: (response, held) => (response.deletesAt ? undefined : this._forget(held)),
    });
  }

  async signOutEverywhere(request, options) {
    const isEnd = !request?.exceptCurrent;
    await this.call("AuthService/SignOutEverywhere", request, {
      ...options, isRepeatable: true, isEnd, after: (_, held) => (isEnd ? this._forget(held) : undefined),
    });
  }

  /** The server has ended the session by the user's own request. */
  _forget({ sessionId }) {
    return this._session.change((record) =>
      record.session?.sessionId === sessionId ? forgetUser(record) : false);
  }

  async linkProvider(credentials, options) {
    let pending;
    const { providers } = complete("LinkProviderResponse", await this._authorized({
      ...options,
      after: ({ session }) =>
        // Another account of the user's may have absorbed this one.
        (session?.tokens ? this._session.adopt(callTokens(session.tokens), pending.forget) : this._session.change(pending.forget)),
    }, async (token, wait) => {
      pending ??= await withPendingName(this._session, credentials, wait);
      return this._transport.call("AuthService/LinkProvider", { credentials: pending.named }, token, wait);
    }));
    return providers;
  }

  // -- Guests

  signInAsGuest(deviceName, options) {
    return this._waiting(options, (wait) => signInAsGuest(this._session, this._transport, deviceName, wait));
  }

  async keptGuest() {
    return (await this._session.read()).guest?.userId;
  }

  async absorbGuest(outcome, options) {
    const { guest } = await this._session.read();
    if (!guest) throw new VestibuleError("GUEST_TOKEN_INVALID", "No guest is kept.", { action: "show" });
    const request = { guestToken: guest.refreshToken, guest: `GUEST_OUTCOME_${outcome.toUpperCase()}` };
    const forget = () => forgetGuest(this._session, guest);
    try {
      await this._authorized({ ...options, isRepeatable: true, after: forget }, (token, wait) =>
        this._transport.call("AuthService/AbsorbGuest", request, token, wait));
    } catch (error) {
      if (error.code === "GUEST_TOKEN_INVALID") await forget();
      throw error;
    }
  }

  events(options) {
    return watch(this._session, this._transport, this._clock, this._deadline, options);
  }

  /**
   * Sends a request with an access token: once more after a 401, and a few times after failures that pass; always as the user whom it
   * began with. With `isEnd` it ends the session, so that a session that has ended after a lost response is a success.
   */
  _authorized(options, send) {
    return this._waiting(options, async (wait) => {
      let first, refused, isLost = false;
      for (let tries = 1; ;) {
        let held;
        try {
          held = options.isPublic ? undefined : await this._session.token(wait, refused);
          first ??= held;
          if (first?.userId !== held?.userId) throw signedOutError();
          const response = await wait.for(send(held?.accessToken, wait));
          await wait.for(options.after?.(response, held));
          return response;
        } catch (error) {
          if (options.isEnd && isLost && /^SESSION_/.test(error.code)) {
            await wait.for(this._forget(first));
            return {};
          }
          // That of a refresh, which has made its own tries.
          if (!held && !options.isPublic) throw error;
          if (held && !refused && error.status === 401 && (error.action === "refresh" || OVER.includes(error.code))) {
            refused = held.accessToken;
            continue;
          }
          if (!mayRepeat(error, options.isRepeatable) || tries === TRIES_MAX) throw error;
          // It may have been done all the same.
          isLost ||= !error.isOurs;
          if (!(await wait.pause(pauseAfter(tries++, error.retryAfter)))) throw error;
        }
      }
    });
  }

  // -- Avatars

  async setAvatar(image, options = {}) {
    const type = options.type ?? (image.type || "application/octet-stream");
    const profile = await this._authorized({ ...options, isRepeatable: true }, (token, wait) =>
      route(this._transport, "PUT", "/me/avatar", type, image, token, wait));
    return this.avatarURL(profile?.avatar_url);
  }

  async removeAvatar(options = {}) {
    await this._authorized({ ...options, isRepeatable: true }, (token, wait) =>
      route(this._transport, "DELETE", "/me/avatar", undefined, undefined, token, wait));
  }

  /** Where a picture of a profile or a member is. */
  avatarURL(avatarUrl) {
    return avatarUrl?.startsWith("/") ? this.url + avatarUrl : avatarUrl ?? undefined;
  }
}
