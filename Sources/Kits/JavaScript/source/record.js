// What is in the store: one value, which is written as a whole.
import { storeError } from "./errors.js";

const VERSION = 1;
export const SIGN_OUTS_MAX = 8;
export const HOSTED_MAX = 4;

export const areTexts = (...values) => values.every((each) => typeof each === "string");

export const emptyRecord = () => ({
  version: VERSION, generation: 0, session: null, ended: null, signOuts: [], pendingName: null,
});

/** The record in a text, or undefined if it can't be read. Throws for one of a newer version, which isn't written over. */
export function parseRecord(text) {
  if (text === null || text === undefined) return emptyRecord();
  let record;
  try {
    record = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { version, generation, session } = record ?? {};
  if (version > VERSION) throw storeError({ name: "version", code: version });
  if (version !== VERSION || !Number.isInteger(generation)) return undefined;
  if (session && !areTexts(session.accessToken, session.refreshToken)) return undefined;
  return { ...emptyRecord(), ...record };
}

/** Whether an access token has enough left: a minute, or a fifth of its lifetime. */
export function isFresh(session, ageMilliseconds) {
  const lifetime = session.lifetimeSeconds * 1000;
  return ageMilliseconds >= 0 && lifetime - ageMilliseconds >= Math.min(60_000, lifetime / 5);
}
