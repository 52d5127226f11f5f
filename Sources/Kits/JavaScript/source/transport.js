// Requests and responses, each once.
import { reasonOf } from "./clock.js";
import { VestibuleError, connectError, foreignError, grantError } from "./errors.js";

export const PACKAGE = "vestibule.app.v1";

const BODY_LETTERS_MAX = 8 << 20;

/** The text of a body, which has an end. */
async function textOf(response) {
  const reader = response.body?.getReader();
  // React Native has no streams.
  if (!reader) return response.text();
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    text += decoder.decode(value, { stream: !done });
    if (done) return text;
    if (text.length > BODY_LETTERS_MAX) {
      reader.cancel().catch(() => {});
      throw foreignError(response.status);
    }
  }
}

/** Sends requests to one server. */
export class Transport {
  constructor(url, fetch, language) {
    this.url = url;
    this.fetch = fetch;
    this.language = language;
  }

  /** The response of a unary call of Connect. */
  async call(method, request, token, wait) {
    const headers = {
      "content-type": "application/json",
      "connect-protocol-version": "1",
      "connect-timeout-ms": `${Math.max(1, Math.min(wait.left, 86_400_000) | 0)}`,
    };
    const value = await this.exchange(`/${PACKAGE}.${method}`, "POST", headers, JSON.stringify(request), token, wait, connectError);
    // A message, and not what a portal may answer.
    if (Object(value) !== value || Array.isArray(value)) throw foreignError(200);
    return value;
  }

  /** The response of the token endpoint or of revocation; undefined if it is empty. */
  form(path, fields, wait) {
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    return this.exchange(path, "POST", headers, new URLSearchParams(fields).toString(), undefined, wait, grantError);
  }

  /** What is in the JSON of a response. `errorOf` reads an error of the server. */
  exchange(path, method, headers, body, token, wait, errorOf) {
    return wait.for(this.open(path, method, headers, body, token, wait.signal).then((response) => this.read(response, wait.signal, errorOf)));
  }

  /** A response, unread. */
  async open(path, method, headers, body, token, signal) {
    if (token) headers.authorization = `Bearer ${token}`;
    if (this.language) headers["accept-language"] = this.language;
    let response;
    try {
      response = await this.fetch(this.url + path, {
        method, headers, body, signal,
        // Nothing of this belongs in a cache, at another address, or beside cookies.
        cache: "no-store", credentials: "omit", redirect: "manual", referrerPolicy: "no-referrer",
      });
    } catch (error) {
      throw networkError(error, signal);
    }
    // React Native follows redirects all the same.
    if (response.url && !response.url.endsWith(path)) throw foreignError(response.status);
    return response;
  }

  async read(response, signal, errorOf) {
    const { ok, status, headers } = response;
    let text, value;
    try {
      text = await textOf(response);
    } catch (error) {
      throw networkError(error, signal);
    }
    try {
      value = text ? JSON.parse(text) : undefined;
    } catch {
      if (ok) throw foreignError(status);
    }
    if (ok) return value;
    const seconds = parseFloat(headers.get("retry-after"));
    throw errorOf(value, status, seconds) ?? foreignError(status, seconds);
  }
}

function networkError(error, signal) {
  if (signal?.aborted) return reasonOf(signal);
  return error instanceof VestibuleError ? error : new VestibuleError("NETWORK", "", { cause: error });
}
