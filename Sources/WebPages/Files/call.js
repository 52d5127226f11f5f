// Makes the calls of forms (CallForm.swift): sends them, and shows each as a line for a shell, and its answer.
// All that came from elsewhere becomes text of elements, never HTML.

/** Makes an element with attributes and children; strings become text. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "onclick") made.addEventListener("click", value);
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

// Building requests

const VARIABLE = /^\$[A-Z_]+$/;

/** What a control holds: undefined if it is left out, `$NAME` for a variable that isn't known yet. */
function valueOf(control) {
  const text = control.value;
  if (text === "") {
    if (!control.required) return undefined;
    return control.dataset.variable ? `$${control.dataset.variable}` : "";
  }
  if (control.dataset.kind === "integer") return Number(text);
  if (control.dataset.kind === "truth") return text === "true";
  return text;
}

const camel = (name) => name.replace(/_([a-z0-9])/g, (_, letter) => letter.toUpperCase());

/** Puts a value into nested objects and arrays. */
function put(object, names, value) {
  const [name, ...rest] = names;
  if (!rest.length) object[name] = value;
  else put((object[name] ??= /^\d+$/.test(rest[0]) ? [] : {}), rest, value);
}

/** The controls of a form with their values. */
function filled(form) {
  return [...form.querySelectorAll("[name]")]
    .map((control) => ({ control, value: valueOf(control) }))
    .filter(({ value }) => value !== undefined);
}

/** The request of a form: by its route, or by Connect. */
export function requestOf(form, byConnect = false) {
  const { method, path, connect } = form.dataset;
  const request = { method: byConnect ? "POST" : method, target: byConnect ? connect : path, headers: {} };
  const query = [];
  let body;
  for (const { control, value } of filled(form)) {
    const { name } = control;
    if (byConnect) {
      const names = (control.dataset.connect ?? name).split(".").map(camel);
      const number = control.selectedOptions?.[0]?.dataset.number;
      put((body ??= {}), names, number ? Number(number) : value);
    } else if (control.dataset.in === "path") {
      const text = VARIABLE.test(value) ? value : encodeURIComponent(value);
      request.target = request.target.replace(`{${name}}`, text);
    } else if (control.dataset.in === "query") {
      query.push(`${name}=${VARIABLE.test(value) ? value : encodeURIComponent(value)}`);
    } else if (control.dataset.in === "header") {
      request.headers[control.dataset.header] = value;
    } else {
      put((body ??= {}), name.split("."), value);
    }
  }
  if (query.length) request.target += `?${query.join("&")}`;
  const takesBody = byConnect || form.querySelector('[data-in="body"]');
  if (takesBody && request.method !== "GET") request.body = body ?? {};
  return request;
}

/** A text between the apostrophes of a shell; `"$NAME"` stands outside of them. */
const quoted = (text) => `'${text.replaceAll("'", "'\\''").replace(/"\$([A-Z_]+)"/g, "\"'$$$1'\"")}'`;

/** The line for a shell. */
export function curlLine(request, base, token, isStream = false) {
  const parts = [isStream ? "curl -sSN" : "curl -sS"];
  if (request.method !== (request.body ? "POST" : "GET")) parts.push(`-X ${request.method}`);
  parts.push(`"${base}${request.target}"`);
  if (token) parts.push(`-H "Authorization: Bearer ${token}"`);
  for (const [name, value] of Object.entries(request.headers)) parts.push(`-H ${quoted(`${name}: ${value}`)}`);
  if (request.body) parts.push(`-H "Content-Type: application/json" -d ${quoted(JSON.stringify(request.body))}`);
  return parts.join(" ");
}

// Showing

/** Shows a line for a shell, in which a token takes little room. All of it is copied. */
export function showLine(pre, line, token) {
  const code = pre.querySelector("code");
  const parts = token ? line.split(token) : [line];
  code.replaceChildren(...parts.flatMap((part, index) =>
    index ? [element("span", { class: "token" }, token), part] : [part]));
}

// Texts so long without a space are tokens.
const LONG = /([^"\s]{60,})/;

/** A block of code. JSON is indented, and tokens take little room. */
export function codeBlock(text) {
  let pretty = text;
  try {
    pretty = JSON.stringify(JSON.parse(text), null, 2);
  } catch { /* It is no JSON. */ }
  const parts = pretty.split(LONG).map((part, index) => index % 2 ? element("span", { class: "token" }, part) : part);
  return element("pre", {}, element("code", {}, ...parts));
}

/** A status with its time. */
export function statusLine({ status, statusText, milliseconds }, isGood = status > 0 && status < 400, name = "p") {
  const text = status ? `${status} ${statusText ?? ""}`.trim() : "No answer";
  const line = element(name, { class: `status ${isGood ? "good" : "bad"}` }, text);
  if (milliseconds !== undefined) line.append(element("span", { class: "time" }, `${milliseconds} ms`));
  return line;
}

/** Shows the answer to a request: its status, its time, and its body. */
export function showAnswer(output, answer) {
  const note = answer.note ? [element("p", { class: "hint" }, answer.note)] : [];
  const body = answer.text ? [codeBlock(answer.text)] : [];
  output.replaceChildren(statusLine(answer), ...note, ...body);
}

/** Sends a request, and returns the answer's status, time and body. */
export async function send(base, request, token) {
  const headers = { ...request.headers };
  if (token) headers.Authorization = `Bearer ${token}`;
  if (request.body) headers["Content-Type"] = "application/json";
  const start = performance.now();
  const answer = { status: 0, statusText: "", text: "", json: undefined };
  try {
    const response = await fetch(base + request.target, {
      method: request.method, headers, body: request.body && JSON.stringify(request.body), credentials: "omit",
    });
    Object.assign(answer, { status: response.status, statusText: response.statusText, text: await response.text() });
    if (answer.text) answer.json = JSON.parse(answer.text);
  } catch (error) {
    if (!answer.status) answer.text = String(error);
  }
  answer.milliseconds = Math.round(performance.now() - start);
  return answer;
}

// Forms

/** Adds another element to the array of a fieldset. */
function addElement(fieldset) {
  const elements = fieldset.querySelectorAll("[data-element]");
  const copy = elements[0].cloneNode(true);
  for (const part of copy.querySelectorAll("[id], [for], [name], [aria-describedby]")) {
    for (const name of ["id", "for", "aria-describedby"]) {
      const value = part.getAttribute(name);
      if (value) part.setAttribute(name, value.replace("-0-", `-${elements.length}-`));
    }
    if (part.name) part.name = part.name.replace(".0.", `.${elements.length}.`);
  }
  elements[elements.length - 1].after(copy);
  copy.querySelector("[name]").focus();
}

/** A button that copies what a block shows. */
export function copyButton(pre) {
  const button = element("button", { type: "button", class: "copy" }, "Copy");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(pre.querySelector("code").textContent);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Press Ctrl-C";
      getSelection().selectAllChildren(pre.querySelector("code"));
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  return button;
}

/**
 * Makes a form work. Its lines are the `pre` elements beside it, its answer goes to the `output` beside it.
 *
 * The page may have a `token()`, what to do `before(form)`, `after(form, answer)`, and `stream(form, output, token)` in place of a call.
 */
export function connectForm(form, { base = location.origin, token = () => undefined, before, after, stream, call = send } = {}) {
  const place = form.parentElement;
  const output = place.querySelector("output");
  const lines = [...place.querySelectorAll("pre[data-way]")];
  const update = () => {
    const shown = form.hasAttribute("data-token") ? token() ?? "$ACCESS" : undefined;
    for (const pre of lines) {
      const request = requestOf(form, pre.dataset.way === "connect");
      showLine(pre, curlLine(request, base, shown, form.hasAttribute("data-stream")), shown);
    }
  };
  for (const pre of lines) pre.before(copyButton(pre));
  // What is still missing may be filled in when it is sent.
  form.noValidate = true;
  form.addEventListener("input", (event) => {
    event.target.dataset.isEdited = "";
    update();
  });
  form.addEventListener("click", (event) => {
    if (event.target.matches("[data-add]")) addElement(event.target.closest("fieldset"));
    update();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = form.querySelector("button.strong");
    if (stream) return stream(form, output, button);
    button.disabled = true;
    try {
      const note = await before?.(form);
      update();
      if (form.reportValidity()) {
        const answer = await call(base, requestOf(form, !form.dataset.path), form.hasAttribute("data-token") ? token() : undefined);
        showAnswer(output, { ...answer, note });
        await after?.(form, answer);
      }
    } catch (error) {
      showAnswer(output, { status: 0, text: error.message });
    }
    button.disabled = false;
  });
  update();
  return update;
}
