// Sign-in by a provider's credentials.
import { trying } from "./clock.js";
import { callTokens } from "./session.js";

const hex = (bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");

/** 32 random bytes in hexadecimal. */
export const randomText = () => hex(crypto.getRandomValues(new Uint8Array(32)));

export const sha256 = async (text) => new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));

/** A nonce for a sign-in: `nonce` for `signIn`, and for the provider `sha256` (Apple) or `nonce` (Google). */
export async function createNonce() {
  const nonce = randomText();
  return { nonce, sha256: hex(await sha256(nonce)) };
}

/** The claims of a token that came from the server or the provider directly, unverified; exact if they are ASCII, as ids are. */
export function claimsOf(token) {
  try {
    return JSON.parse(atob(token.split(".")[1].replace(/-/g, "+").replace(/_/g, "/")));
  } catch {
    return {};
  }
}

/** Opens a session, with several tries: the server gives the same session for the same credentials within a minute. */
export async function signIn(session, transport, credentials, wait) {
  const { named, forget } = await withPendingName(session, credentials, wait);
  return trying(wait, async () => {
    const { tokens, ...rest } = await transport.call("AuthService/SignInWithProvider", named, undefined, wait);
    await wait.for(session.adopt(callTokens(tokens), forget));
    return { isNewUser: false, missingFields: [], ...rest, userId: tokens.userId };
  });
}

/**
 * Apple tells name and e-mail once. So they are stored before the request, and go with every later one of the same person until one has
 * succeeded, when `forget` takes them out of the record. The person is the subject; if none can be read, the credential's hash.
 */
export async function withPendingName(session, credentials, wait) {
  const { provider, idToken, authorizationCode, accessToken, fullName, email } = credentials;
  let { pendingName } = await wait.for(session.read());
  if (!pendingName && !fullName && !email) return { named: credentials, forget: () => false };
  const subject = claimsOf(idToken).sub ?? `sha256 ${hex(await sha256(idToken ?? authorizationCode ?? accessToken ?? ""))}`;
  const isSame = (kept) => kept?.provider === provider && kept.subject === subject;
  ({ pendingName } = await wait.for(session.change((record) => {
    if (!fullName && !email) return false;
    const kept = isSame(record.pendingName) ? record.pendingName : {};
    record.pendingName = {
      provider, subject, fullName: fullName || kept.fullName, email: email || kept.email, keptAt: wait.clock.wall(),
    };
  })));
  return {
    named: isSame(pendingName) ? { ...credentials, fullName: pendingName.fullName, email: pendingName.email } : credentials,
    forget: (record) => (isSame(record.pendingName) ? void (record.pendingName = null) : false),
  };
}
