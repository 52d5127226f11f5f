// Every error of the kit but a cancellation, which is the signal's own reason as the platform has it.
import { actionOf } from "./actions.js";

// The longest wait that is taken from a server.
const RETRY_AFTER_SECONDS_MAX = 86_400;

/** An error with a stable code: the server's, or one of the kit's own. It never has a token in it. */
export class VestibuleError extends Error {
  #isOurs;

  constructor(code, message, { action, status, fields = {}, metadata = {}, retryAfter, isOurs, cause } = {}) {
    super(message || code, cause ? { cause } : undefined);
    this.name = "VestibuleError";
    this.code = code;
    this.action = action ?? actionOf(code, status);
    this.status = status;
    this.fields = fields;
    this.metadata = metadata;
    this.retryAfter = retryAfter >= 0 ? Math.min(retryAfter, RETRY_AFTER_SECONDS_MAX) : undefined;
    this.#isOurs = isOurs;
  }

  /** Whether the server wrote it. Not for apps, and not in logs. */
  get isOurs() {
    return this.#isOurs;
  }
}

export const signedOutError = () => new VestibuleError("SIGNED_OUT");

/** Without the cause, whose message may have what was written in it. */
export const storeError = (cause) => new VestibuleError("STORE_FAILED", `The store failed: ${[cause?.name, cause?.code].join(" ")}`);

/** The error that a response of somebody else is: a proxy or a portal. */
export const foreignError = (status, retryAfter) => new VestibuleError(status === 429 || status >= 500 ? "UNAVAILABLE" : "BAD_RESPONSE", "", {
  status, retryAfter, action: "retry",
});

// What the larger module reads beside: `{ fields, metadata }` of an error's details.
let detailsOf;

export const readDetails = (read) => (detailsOf = read);

// The readers of errors: each takes what one kind of address answers, and only what is surely the server's.

/** The error of a method, in Connect's JSON (https://connectrpc.com/docs/protocol#error-end-stream), or undefined. */
export function connectError(value, status, headerSeconds) {
  const debug = (name) => [value?.details].flat().find((each) => each?.type === `google.rpc.${name}`)?.debug;
  const info = debug("ErrorInfo");
  if (info?.domain !== "vestibule" || typeof info.reason !== "string") return undefined;
  const seconds = parseFloat(debug("RetryInfo")?.retryDelay);
  return new VestibuleError(info.reason, String(value.message ?? ""), {
    status,
    isOurs: true,
    ...detailsOf?.(info, debug("BadRequest")),
    retryAfter: seconds >= 0 ? seconds : headerSeconds,
  });
}

/** The error of the token endpoint (RFC 6749 section 5.2), or undefined. */
export function grantError(value, status) {
  const name = value?.error;
  if (typeof name !== "string" || status !== (name === "invalid_client" ? 401 : 400)) return undefined;
  return new VestibuleError(name.toUpperCase(), String(value.error_description ?? ""), {
    status, isOurs: true, action: name === "invalid_grant" ? "sign_in_again" : "fix_request",
  });
}
