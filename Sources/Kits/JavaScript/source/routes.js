// What the larger module sends beside unary calls: routes, and the stream of events.
import { VestibuleError, connectError } from "./errors.js";
import { PACKAGE } from "./transport.js";

const camel = (name) => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());

const fieldsOf = (violations, codeName, textName) => Object.fromEntries(
  (violations ?? []).map((each) => [camel(each.field ?? ""), { code: each[codeName], message: each[textName] ?? "" }]));

/** What is in the details of an error beside its code. */
export const detailsOf = ({ metadata }, request) => ({ metadata, fields: fieldsOf(request?.fieldViolations, "reason", "description") });

/** The response of a route. */
export function route(transport, verb, path, type, body, token, wait) {
  return transport.exchange(path, verb, type ? { "content-type": type } : {}, body, token, wait, problemError);
}

/** The response of a stream of Connect, unread. */
export async function stream(transport, method, body, token, signal) {
  const headers = { "content-type": "application/connect+json", "connect-protocol-version": "1" };
  const response = await transport.open(`/${PACKAGE}.${method}`, "POST", headers, body, token, signal);
  if (!response.ok) await transport.read(response, signal, connectError);
  return response;
}

/** The error in a problem (RFC 9457), or undefined. */
function problemError(value, status, retryAfter) {
  if (typeof value?.code !== "string" || typeof value.detail !== "string") return undefined;
  return new VestibuleError(value.code, value.detail, {
    status, isOurs: true, fields: fieldsOf(value.fields, "code", "detail"), retryAfter,
  });
}
