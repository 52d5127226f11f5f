// Changes of groups as server-sent events, read by fetch, since an EventSource sends no token.
import { element, requestOf } from "./call.js";
import { current, refresh } from "./people.js";

/** Reads the events of a stream: calls back with each event's type and data, until it ends or is aborted. */
export async function readEvents(token, signal, headers, onEvent) {
  const response = await fetch(`${location.origin}/me/events`, {
    headers: { ...headers, Authorization: `Bearer ${token}` }, signal, credentials: "omit",
  });
  if (!response.ok) return { status: response.status, text: await response.text() };
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    text += part.value;
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const lines = text.slice(0, end).split("\n");
      text = text.slice(end + 2);
      const field = (name) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      if (field("event")) onEvent(field("event"), JSON.parse(field("data") || "{}"));
    }
  }
  return { status: response.status, text: "" };
}

/** An event as an item of a list, with a line for each change that it tells. */
export function eventItem(type, data) {
  const lines = (data.changes ?? [data]).map(({ type: change, ...ids }) => element("div", {},
    change ? element("strong", {}, change) : "", element("code", {}, Object.keys(ids).length ? JSON.stringify(ids) : "")));
  return element("li", {}, element("code", {}, `event: ${type}`), ...lines);
}

let running;

/** Starts or stops the stream of the form. */
export async function watch(form, output, button) {
  if (running) return running.abort();
  running = new AbortController();
  button.textContent = "Stop";
  const list = element("ul", { class: "events" });
  const status = element("p", { class: "status good" }, "Watching");
  output.replaceChildren(status, list);
  try {
    const { headers } = requestOf(form);
    const read = () => readEvents(current()?.access ?? "", running.signal, headers,
      (type, data) => list.append(eventItem(type, data)));
    let end = await read();
    if (end.status === 401 && current() && (await refresh(current())).status === 200) end = await read();
    status.textContent = end.status === 200 ? "The stream ended." : `${end.status} ${end.text}`;
    status.className = `status ${end.status === 200 ? "good" : "bad"}`;
  } catch (error) {
    status.textContent = running.signal.aborted ? "Stopped" : String(error);
  }
  running = undefined;
  button.textContent = "Watch";
}
