// Guests: an account without a provider, and what becomes of it when the user signs in to another one.
import { trying } from "./clock.js";
import { VestibuleError, foreignError } from "./errors.js";
import { addSignOuts, callTokens } from "./session.js";

// More would keep a phone busy for an hour: no server of ours demands it.
const WORK_BITS_MAX = 30;
// Hashes at once, and how long the page waits for its turn. Chromium makes short hashes at once, so that nothing else would run.
const BATCH = 64;
const TURN_MILLISECONDS = 20;

const CHALLENGE_OVER = ["WORK_EXPIRED", "WORK_SPENT"];

/** Somebody is signed in: a guest who is replaced would be lost, and nothing is gained by replacing a user. */
function refuseSignedIn({ session }) {
  if (session) throw new VestibuleError("SIGNED_IN", "Somebody is signed in.", { action: "show" });
}

/** A text that solves a challenge: its SHA-256 begins with so many zero bits. */
export async function solve(challenge, workBits, wait) {
  const encoder = new TextEncoder();
  const limit = 2 ** (32 - workBits);
  let turn = performance.now();
  for (let first = 0; ; first += BATCH) {
    const hashes = await wait.for(Promise.all(Array.from({ length: BATCH }, (_, index) =>
      crypto.subtle.digest("SHA-256", encoder.encode(`${challenge}.${first + index}`)))));
    const found = hashes.findIndex((hash) => new DataView(hash).getUint32(0) < limit);
    if (found >= 0) return `${challenge}.${first + found}`;
    if (performance.now() - turn < TURN_MILLISECONDS) continue;
    await wait.for(new Promise((resolve) => setTimeout(resolve)));
    turn = performance.now();
  }
}

/** Opens the session of a new guest. The server returns the same session for the same proof within a minute. */
export async function signInAsGuest(session, transport, deviceName, wait) {
  for (let isAnew = false; ; isAnew = true) {
    refuseSignedIn(await wait.for(session.read()));
    const { challenge, workBits = 0 } = await trying(wait, () => transport.call("AuthService/CreateGuestChallenge", {}, undefined, wait));
    if (typeof challenge !== "string" || !(workBits >= 0 && workBits <= WORK_BITS_MAX)) throw foreignError();
    // Also without work: by the proof the server knows a repetition.
    const proofOfWork = await solve(challenge, workBits, wait);
    try {
      const { tokens, ...rest } = await trying(wait, async () => {
        const response = await transport.call("AuthService/SignInAsGuest", { proofOfWork, deviceName }, undefined, wait);
        return { ...response, tokens: { ...callTokens(response.tokens), isGuest: true } };
      });
      await wait.for(adopt(session, tokens));
      return { isNewUser: true, missingFields: [], ...rest, userId: tokens.userId };
    } catch (error) {
      if (isAnew || !CHALLENGE_OVER.includes(error.code)) throw error;
    }
  }
}

/** Stores the guest's session, unless somebody has signed in meanwhile: then nobody needs it. */
async function adopt(session, tokens) {
  try {
    await session.adopt(tokens, refuseSignedIn);
  } catch (error) {
    if (error.code === "SIGNED_IN") await session.change((record) => addSignOuts(record, tokens));
    throw error;
  }
}

/** Takes the guest out of the record, unless it is another one by now. */
export const forgetGuest = (session, { refreshToken }) =>
  session.change((record) => (record.guest?.refreshToken === refreshToken ? void (record.guest = null) : false));
