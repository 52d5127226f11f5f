// Who is signed in, and the values that answers have given. Tokens live in this tab's sessionStorage alone.
import { send } from "./call.js";

const KEY = "vestibule-home";
const home = document.getElementById("home");

/** The simulator's origin; undefined where none is configured. */
export const simulator = home.dataset.simulator;

/** `sessions` by their keys, the `current` one's key, and `values` of variables. */
const state = { sessions: {}, current: null, values: {}, ...JSON.parse(sessionStorage.getItem(KEY) ?? "{}") };
const listeners = [];

/** Calls a function after each change, and once now. */
export function onChange(listener) {
  listeners.push(listener);
  listener();
}

function changed() {
  sessionStorage.setItem(KEY, JSON.stringify(state));
  for (const listener of listeners) listener();
}

/** The session that calls use: `{name, provider, person, access, refresh}`. */
export const current = () => state.sessions[state.current];
export const sessions = () => Object.entries(state.sessions);
export const isCurrent = (key) => key === state.current;
/** What is known of the page's variables. */
export const values = () => ({ ...state.values, ACCESS: current()?.access, REFRESH: current()?.refresh });

/** Makes another session the current one. */
export function choose(key) {
  state.current = key;
  changed();
}

/** Adds a session and makes it the current one. */
export function add(key, session) {
  state.sessions[key] = session;
  choose(key);
}

/** Forgets a session, here alone. */
export function forget(key) {
  delete state.sessions[key];
  if (state.current === key) state.current = Object.keys(state.sessions)[0] ?? null;
  changed();
}

export const forgetCurrent = () => state.current && forget(state.current);

/** Sets variables. */
export function set(more) {
  const { ACCESS, REFRESH, ...others } = more;
  if (ACCESS && current()) current().access = ACCESS;
  if (REFRESH && current()) current().refresh = REFRESH;
  Object.assign(state.values, others);
  changed();
}

// Sign-ins

let everybody;

/** The simulator's people and clients. */
export async function cast() {
  everybody ??= send(simulator, { method: "GET", target: "/control/people", headers: {} }).then((answer) => {
    if (answer.json) return answer.json;
    everybody = undefined;
    throw new Error(`The simulator at ${simulator} does not answer. ${answer.text}`);
  });
  return everybody;
}

export const fullName = (person) => `${person.given_name} ${person.family_name}`.trim() || person.email;
export const title = (provider) => provider[0].toUpperCase() + provider.slice(1);

/** The clients of `make run`, for a simulator that knows none. */
const CLIENTS = { apple: "com.example.app", google: "example.apps.googleusercontent.com", facebook: "1234567890" };

const hexadecimal = (bytes) => Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");

/** A token of the simulated provider, as its SDK gives it to an app, and the nonce that it is bound to. */
export async function askProvider(provider, person) {
  const { clients } = await cast();
  if (!crypto.subtle) throw new Error("A browser has hashes only at https, 127.0.0.1 and localhost: open this page there.");
  const nonce = hexadecimal(crypto.getRandomValues(new Uint8Array(16)));
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(nonce));
  const { email, given_name, family_name } = person;
  const answer = await send(simulator, {
    method: "POST", target: `/control/${provider}/sign-in`, headers: {},
    body: {
      client_id: clients[provider]?.[0] ?? CLIENTS[provider], nonce: hexadecimal(digest),
      person: { email, given_name, family_name },
    },
  });
  if (answer.status !== 200) throw new Error(`The simulated ${title(provider)} refused: ${answer.text}`);
  return { token: answer.json.identity_token ?? answer.json.id_token, code: answer.json.authorization_code, nonce };
}

/** Signs a person in with a provider, as an app does. Returns the session and the gateway's answer. */
export async function signIn(provider, person) {
  const { token, code, nonce } = await askProvider(provider, person);
  const body = provider === "apple"
    ? { identity_token: token, authorization_code: code, nonce, full_name: fullName(person) }
    : { id_token: token, nonce };
  const answer = await send(location.origin, { method: "POST", target: `/auth/${provider}`, headers: {}, body });
  const session = answer.status === 200
    ? { name: fullName(person), provider, person, access: answer.json.access_token, refresh: answer.json.refresh_token }
    : undefined;
  return { session, answer };
}

/** Refreshes a session's tokens. */
export async function refresh(session) {
  const body = { refresh_token: session.refresh };
  const answer = await send(location.origin, { method: "POST", target: "/auth/refresh", headers: {}, body });
  if (answer.status === 200) {
    session.access = answer.json.access_token;
    session.refresh = answer.json.refresh_token;
    changed();
  }
  return answer;
}

/** Sends a request of the current session's, and again with new tokens if its access token has expired. */
export async function sendAsUser(base, request, token) {
  const answer = await send(base, request, token);
  const session = current();
  const hasExpired = answer.status === 401 && /TOKEN_EXPIRED/.test(answer.text);
  if (!hasExpired || !session || (await refresh(session)).status !== 200) return answer;
  return send(base, request, session.access);
}
