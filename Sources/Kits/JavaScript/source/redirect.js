// The hosted page in a browser: in this window, or in one of its own.
import { reasonOf } from "./clock.js";
import { VestibuleError } from "./errors.js";
import { queryOf } from "./hosted.js";

const NAME = "vestibule-sign-in";
const POLL_MILLISECONDS = 200;
// What the window has to say may come after its end.
const CLOSED_MILLISECONDS = 2000;

const here = () => location.origin + location.pathname;

/** Leads the window to the page. */
export async function redirect(client, options = {}) {
  location.assign(await client.beginSignIn({ ...options, redirectUri: options.redirectUri ?? here() }));
  // The window is about to be left; it may come back as it was, by the browser's Back.
  return new Promise((_, reject) => addEventListener("pageshow", ({ persisted }) => {
    if (persisted) reject(new DOMException("The user came back.", "AbortError"));
  }));
}

/** Finishes the sign-in if the window is on the way back, and takes the code out of the address. */
export async function finishRedirect(client) {
  const callback = location.href;
  const { state, iss, code, error } = queryOf(callback);
  if (!state || !iss || !(code || error)) return undefined;
  history.replaceState(history.state, "", location.pathname + location.hash);
  const channel = new BroadcastChannel(NAME);
  try {
    const signedIn = await client.finishSignIn(callback);
    channel.postMessage({ state, signedIn });
    return signedIn;
  } catch (error) {
    const { code, message, action } = error;
    channel.postMessage({ state, code, message, action });
    throw error;
  } finally {
    channel.close();
    if (window.name === NAME) window.close();
  }
}

/** Opens the page in a window of its own, and waits for what the redirect page there reports. To be called in a click's handler. */
export function popup(client, options = {}) {
  const { signal } = options;
  // At once: after a pause browsers block it.
  const opened = window.open("about:blank", NAME, "popup,width=480,height=720");
  if (!opened) return Promise.reject(new DOMException("The browser blocked the window.", "NotAllowedError"));
  const channel = new BroadcastChannel(NAME);
  return new Promise((resolve, reject) => {
    let timer, closedAt;
    const end = (settle, value) => {
      clearInterval(timer);
      signal?.removeEventListener("abort", cancel);
      channel.close();
      if (settle === reject) opened.close();
      settle(value);
    };
    const cancel = () => end(reject, reasonOf(signal));
    if (signal?.aborted) return cancel();
    signal?.addEventListener("abort", cancel);
    client.beginSignIn({ ...options, redirectUri: options.redirectUri ?? here() }).then((address) => {
      const { state } = queryOf(address);
      channel.onmessage = async ({ data }) => {
        if (data.state !== state) return;
        const { signedIn, code, message, action } = data;
        // This tab knows it, too, before its app does.
        if (signedIn) await client.state().catch(() => {});
        if (signedIn) end(resolve, signedIn);
        else end(reject, new VestibuleError(code ?? "UNKNOWN", message, { action }));
      };
      opened.location = address;
      timer = setInterval(() => {
        if (opened.closed) closedAt ??= performance.now();
        if (performance.now() - closedAt > CLOSED_MILLISECONDS) end(reject, new VestibuleError("CANCELLED", "The window was closed."));
      }, POLL_MILLISECONDS);
    }).catch((error) => end(reject, error));
  });
}
