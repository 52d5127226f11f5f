// The page of development: signs people in, fills in forms, searches.
import { connectForm, copyButton, element, send, showAnswer } from "./call.js";
import { connectHostedSignIn } from "./openid.js";
import {
  add, askProvider, cast, choose, current, forget, forgetCurrent, fullName, isCurrent, onChange, sendAsUser, sessions, set, signIn,
  simulator, title, values,
} from "./people.js";
import { connectTour } from "./tour.js";
import { watch } from "./watch.js";

document.documentElement.classList.add("scripted");
const main = document.getElementById("home");

// Signing in

const people = document.getElementById("people");
const answerOfSignIn = element("output", { class: "panel", hidden: "" });

function showSignIn(answer) {
  answerOfSignIn.hidden = false;
  showAnswer(answerOfSignIn, answer);
}

async function signInAs(provider, person, button) {
  button.disabled = true;
  try {
    const { session, answer } = await signIn(provider, person);
    if (session) add(`${provider} ${person.email}`, session);
    showSignIn({ ...answer, note: `What your app gets by POST /auth/${provider}:` });
  } catch (error) {
    showSignIn({ text: error.message });
  }
  button.disabled = false;
}

function signInButton(provider, person, isFirst) {
  const text = `Sign in as ${person.given_name || person.email} (simulated ${title(provider)})`;
  return element("button", {
    type: "button", class: isFirst ? "strong" : "", onclick: (event) => signInAs(provider, person, event.target),
  }, text);
}

function somebodyElse(everybody) {
  const who = element("select", { id: "else-person", name: "person" },
    ...everybody.people.map((person, index) => element("option", { value: index }, `${fullName(person)}, ${person.email}`)));
  const provider = element("select", { id: "else-provider" },
    ...["apple", "google", "facebook"].map((name) => element("option", { value: name }, title(name))));
  const button = element("button", { type: "button" }, "Sign in");
  button.addEventListener("click", () => signInAs(provider.value, everybody.people[who.value], button));
  return element("details", { class: "entry" },
    element("summary", {}, "As somebody else, or with another provider"),
    element("div", { class: "content" },
      element("div", { class: "fields" },
        element("div", { class: "field" }, element("label", { for: "else-person" }, "Person"), who),
        element("div", { class: "field" }, element("label", { for: "else-provider" }, "Provider"), provider)),
      element("div", { class: "buttons" }, button)));
}

async function showPeople() {
  const chips = element("ul", { class: "chips", id: "signed-in" });
  onChange(() => chips.replaceChildren(...sessions().map(([key, session]) =>
    element("li", {}, element("button", {
      type: "button", "aria-pressed": isCurrent(key), onclick: () => choose(key),
    }, `${session.name}, ${title(session.provider)}${session.isOfTour ? " (tour)" : ""}`)))));
  if (!simulator) {
    people.replaceChildren(element("p", {}, "VESTIBULE_GATEWAY_SIMULATOR_URL names no simulator: sign in with a token of your own, by "
      + "the form of SignInWithProvider."), chips);
    return;
  }
  try {
    const everybody = await cast();
    const [first, second] = everybody.people;
    people.replaceChildren(
      element("div", {},
        element("div", { class: "buttons" }, signInButton("apple", first, true), signInButton("google", second, false)),
        somebodyElse(everybody), chips),
      answerOfSignIn);
  } catch (error) {
    people.replaceChildren(element("p", { class: "notice", role: "alert" }, error.message));
  }
}

// Who is signed in, beside the search

const who = document.getElementById("who");
onChange(() => {
  const session = current();
  if (!session) return who.replaceChildren("Nobody is signed in.");
  const key = sessions().find(([name]) => isCurrent(name))[0];
  who.replaceChildren("Signed in as", element("strong", {}, session.name), element("button", {
    type: "button", class: "copy", onclick: async () => {
      await send(location.origin, { method: "POST", target: "/auth/sign-out", headers: {} }, session.access);
      forget(key);
    },
  }, "Sign out"));
});

// Forms

const TOKENS = '[data-variable="TOKEN"], [data-variable="GOOGLE_TOKEN"]';

/** Gets a fresh token of the simulated provider into a form that needs one, unless somebody wrote one there. */
async function fillInToken(form) {
  const token = form.querySelector(TOKENS);
  if (!simulator || !token || "isEdited" in token.dataset) return undefined;
  const provider = form.querySelector('[name$="provider"]').value;
  const person = current()?.person ?? (await cast()).people[0];
  const asked = await askProvider(provider, person);
  token.value = asked.token;
  form.querySelector('[data-variable="NONCE"]').value = asked.nonce;
  return `With a fresh token of the simulated ${title(provider)} for ${fullName(person)}.`;
}

const member = (json, path) => path.split(".").reduce((value, name) => value?.[name], json);

/** Keeps what an answer says for other forms. */
function keepValues(form, answer) {
  if (answer.status === 401 && /SESSION_/.test(answer.text)) return forgetCurrent();
  if (answer.status >= 300 || !answer.json) return undefined;
  const found = (form.dataset.sets ?? "").split(" ").filter(Boolean)
    .map((source) => source.split("="))
    .map(([name, path]) => [name, member(answer.json, path)])
    .filter(([, value]) => typeof value === "string" && value);
  const more = Object.fromEntries(found);
  if (form.id === "form-signInWithProvider" && more.ACCESS) {
    const provider = form.querySelector('[name="provider"]').value;
    const session = { name: answer.json.suggestedDisplayName || "somebody", provider, access: more.ACCESS, refresh: more.REFRESH };
    return add(`${provider} ${session.name}`, session);
  }
  return set(more);
}

const token = () => current()?.access;
const forms = [...main.querySelectorAll("form.call")];
const updates = forms.map((form) => connectForm(form, {
  token, call: sendAsUser, before: fillInToken, after: keepValues,
  stream: form.hasAttribute("data-stream") ? watch : undefined,
}));

// Lines without a form: only values that mean nothing to a shell are filled in.
const PLAIN = /^[\w.~+/=-]+$/;
const plainLines = [...main.querySelectorAll("pre[data-call]:not([data-way]) code")].map((code) => [code, code.textContent]);
for (const [code] of plainLines) code.parentElement.before(copyButton(code.parentElement));

onChange(() => {
  const known = values();
  for (const control of main.querySelectorAll("[data-variable]")) {
    const value = known[control.dataset.variable];
    if (value && !("isEdited" in control.dataset)) control.value = value;
  }
  const provider = document.querySelector("#form-deleteMe [name$=provider]");
  if (provider && current() && !("isEdited" in provider.dataset)) provider.value = current().provider;
  for (const update of updates) update();
  for (const [code, line] of plainLines) {
    code.textContent = line.replace(/'\$([A-Z_]+)'|\$([A-Z_]+)/g, (all, inner, plain) => {
      const value = known[inner ?? plain];
      return value && PLAIN.test(value) ? value : all;
    });
  }
});

// Search

const search = document.getElementById("search");
const nothing = document.getElementById("nothing");
search.addEventListener("input", () => {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  let found = 0;
  for (const entry of main.querySelectorAll("section > details.entry")) {
    const text = `${entry.id} ${entry.textContent}`.toLowerCase();
    entry.hidden = !words.every((word) => text.includes(word));
    if (!entry.hidden) found += 1;
  }
  for (const section of main.querySelectorAll(".columns section")) {
    section.hidden = words.length > 0 && !section.querySelector("details.entry:not([hidden])");
  }
  nothing.textContent = found ? "" : "Nothing matches.";
});

// A link to an entry opens it.
function openTarget() {
  const entry = document.getElementById(location.hash.slice(1));
  if (entry?.matches("details")) entry.open = true;
}
addEventListener("hashchange", openTarget);
openTarget();

// What runs.
send(location.origin, { method: "GET", target: "/readyz", headers: {} }).then(({ status, json }) => {
  const services = Object.entries(json?.services ?? {}).map(([name, state]) => `${name} ${state}`);
  document.getElementById("parts").textContent = [`gateway ${status === 200 ? "ok" : status}`, ...services].join(", ");
});

connectHostedSignIn(document.getElementById("hosted"));
connectTour(document.getElementById("tour"));
await showPeople();
