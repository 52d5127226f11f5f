// Sign-in by the server's own page (OpenID Connect, authorization code with PKCE).
import { VestibuleError } from "./errors.js";
import { HOSTED_MAX } from "./record.js";
import { grantedTokens } from "./session.js";
import { claimsOf, randomText, sha256 } from "./sign-in.js";

// How long a sign-in that was begun can be finished.
const HOSTED_MILLISECONDS = 3_600_000;
const SCOPE = "openid profile email offline_access";

const stateError = (message) => new VestibuleError("WEB_STATE_INVALID", message, { action: "sign_in_again" });

const base64url = (bytes) => btoa(String.fromCharCode(...bytes)).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

/** The parameters of an address. React Native's `URL` and `URLSearchParams` can't read them. */
export function queryOf(address) {
  const [, query = ""] = address.replace(/#.*/s, "").split("?");
  const decoded = (text) => {
    try {
      return decodeURIComponent(text.replace(/\+/g, " "));
    } catch {
      // An address of the app's own, which has a lonely percent sign.
      return text;
    }
  };
  return Object.fromEntries(query.split("&").map((each) => {
    const [name, ...value] = each.split("=");
    return [decoded(name), decoded(value.join("="))];
  }));
}

/** The URL of the page. What the way back needs is in the store before it is returned. */
export async function beginSignIn(session, url, clientId, { redirectUri, provider, scope = SCOPE, parameters = {} }, wait) {
  if (!clientId) throw new TypeError("clientId: the hosted page needs one");
  const begunAt = wait.clock.wall();
  const begun = { state: randomText(), nonce: randomText(), verifier: randomText(), redirectUri, begunAt };
  const challenge = base64url(await sha256(begun.verifier));
  await wait.for(session.change((record) => {
    const open = (record.hosted ?? []).filter((each) => begunAt - each.begunAt < HOSTED_MILLISECONDS);
    record.hosted = [...open, begun].slice(-HOSTED_MAX);
  }));
  const query = new URLSearchParams({
    ...parameters,
    response_type: "code", client_id: clientId, redirect_uri: redirectUri, scope,
    state: begun.state, nonce: begun.nonce, code_challenge: challenge, code_challenge_method: "S256",
    ...(provider ? { idp: provider } : {}),
  });
  return `${url}/oauth2/authorize?${query}`;
}

/** Opens the session of the code in the address that the page sent the browser to. */
export async function finishSignIn(session, transport, issuer, clientId, callback, wait) {
  const query = queryOf(callback);
  let begun;
  // It is good once, whatever comes of it.
  await wait.for(session.change((record) => {
    begun = record.hosted?.find(({ state }) => state === query.state);
    if (!begun) return false;
    record.hosted = record.hosted.filter((each) => each !== begun);
  }));
  if (!(wait.clock.wall() - begun?.begunAt < HOSTED_MILLISECONDS)) throw stateError("This app did not begin this sign-in.");
  // RFC 9207: the answer may be another server's.
  if (query.iss !== issuer) throw stateError("The answer is another server's.");
  const { error } = query;
  if (error) {
    throw new VestibuleError(error === "access_denied" ? "CANCELLED" : error.toUpperCase(), query.error_description ?? "", {
      action: error === "access_denied" ? "show" : "sign_in_again",
    });
  }
  const answer = await transport.form("/oauth2/token", {
    grant_type: "authorization_code", code: query.code ?? "", redirect_uri: begun.redirectUri,
    client_id: clientId, code_verifier: begun.verifier,
  }, wait);
  const claims = claimsOf(answer?.id_token);
  const audience = [claims.aud].flat();
  if (claims.nonce !== begun.nonce || claims.iss !== issuer || !audience.includes(clientId)) {
    throw stateError("The ID token is not of this sign-in.");
  }
  await wait.for(session.adopt({ ...grantedTokens(answer), userId: claims.sub, sessionId: claims.sid, clientId }));
  return { userId: claims.sub };
}
