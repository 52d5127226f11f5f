// Signs in by the hosted page, as any OpenID client does: authorization code with PKCE, and the code redeemed here.
import { element, send, showAnswer } from "./call.js";
import { add } from "./people.js";

const KEY = "vestibule-home-authorization";
const base64url = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes)))
  .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const random = () => base64url(crypto.getRandomValues(new Uint8Array(32)));

/** Goes to the hosted page with a challenge whose verifier this tab alone has. */
async function begin(link) {
  const verifier = random();
  const state = random();
  const challenge = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  const address = new URL(link.href);
  address.searchParams.set("state", state);
  address.searchParams.set("code_challenge", base64url(challenge));
  sessionStorage.setItem(KEY, JSON.stringify({ verifier, state }));
  location.assign(address);
}

/** Redeems the code with which the browser came back. */
async function finish(panel, query, client) {
  const output = panel.querySelector("output");
  const { verifier, state } = JSON.parse(sessionStorage.getItem(KEY) ?? "{}");
  sessionStorage.removeItem(KEY);
  // Neither a reload nor the history is to have it.
  history.replaceState(null, "", "/#openid");
  panel.scrollIntoView();
  if (!state || query.get("state") !== state) return showAnswer(output, { text: "This answer is to none of this tab's requests." });
  if (query.get("error")) return showAnswer(output, { text: `${query.get("error")} ${query.get("error_description") ?? ""}` });
  const body = new URLSearchParams({
    grant_type: "authorization_code", client_id: client, redirect_uri: `${location.origin}/`, code: query.get("code"),
    code_verifier: verifier,
  });
  const response = await fetch(`${location.origin}/oauth2/token`, { method: "POST", body, credentials: "omit" });
  const tokens = await response.json();
  if (!response.ok) return showAnswer(output, { status: response.status, text: JSON.stringify(tokens) });
  const claims = await send(location.origin, { method: "GET", target: "/oauth2/userinfo", headers: {} }, tokens.access_token);
  const name = claims.json?.name ?? claims.json?.email ?? "somebody";
  add(`openid ${claims.json?.sub}`, { name, provider: "openID Connect", access: tokens.access_token });
  return showAnswer(output, { ...claims, note: "The code was redeemed at /oauth2/token; this is /oauth2/userinfo:" });
}

/** Makes the panel's link work. */
export function connectHostedSignIn(panel) {
  if (!panel) return;
  const link = panel.querySelector("a");
  const address = new URL(link.href);
  link.addEventListener("click", (event) => {
    event.preventDefault();
    // Cookies and the client's redirect URI are of the origin that is configured.
    if (address.origin === location.origin && crypto.subtle) begin(link);
    else location.assign(`${address.origin}/#openid`);
  });
  if (address.origin !== location.origin) {
    panel.append(element("p", { class: "hint" }, `The hosted page is at ${address.origin}, and so is this page.`));
  }
  const query = new URLSearchParams(location.search);
  if (query.has("state")) finish(panel, query, address.searchParams.get("client_id"));
}
