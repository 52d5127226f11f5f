// The story of `make demo` in steps: each makes real calls, checks the answers, and shows them.
import { codeBlock, element, send, statusLine } from "./call.js";
import { add, forget, signIn, simulator } from "./people.js";
import { eventItem, readEvents } from "./watch.js";

/** New people with new numbers each time, so that the tour can be walked again on the same data. */
function newStory() {
  const digits = Array.from(crypto.getRandomValues(new Uint8Array(18)), (byte) => byte % 10).join("");
  const person = (given, family, at) => {
    const number = `917${digits.slice(at, at + 7)}`;
    const grouped = `${number.slice(0, 3)} ${number.slice(3, 6)} ${number.slice(6)}`;
    return {
      person: { given_name: given, family_name: family, email: `${given}.${digits.slice(at, at + 9)}@example.com`.toLowerCase() },
      name: `${given} ${family}`, phone: `+63${number}`, atHome: `0${grouped}`, abroad: `+63 ${grouped}`,
    };
  };
  return { maria: person("Maria", "Santos", 0), ana: person("Ana", "Cruz", 8), events: [] };
}

function expect(isSo, expectation) {
  if (!isSo) throw new Error(`Expected ${expectation}.`);
}

/** A call of the story, which is shown, and must be answered with this status. */
async function call(show, who, method, target, body, status) {
  const answer = await send(location.origin, { method, target, headers: {}, body }, who?.session.access);
  show(`${method} ${target}`, body, answer, status);
  expect(answer.status === status, `${method} ${target} to return ${status}`);
  return answer.json;
}

async function signInNew(show, who, provider) {
  const { session, answer } = await signIn(provider, who.person);
  show(`POST /auth/${provider}`, undefined, answer);
  expect(session && answer.json.is_new_user, "a new user to be signed in");
  who.session = session;
  who.id = answer.json.user_id;
  session.isOfTour = true;
  add(`${provider} ${who.person.email}`, session);
}

const saved = (show, who, phone) =>
  call(show, who, "PATCH", "/me", { display_name: who.name, phone_number: phone }, 200);

const STEPS = [
  ["The gateway and all services are ready", "The gateway asks each service.",
    async (story, show) => { await call(show, undefined, "GET", "/readyz", undefined, 200); }],
  ["Maria signs in with Apple for the first time", "Apple tells her name once, and it is kept as a suggestion. Her phone number is missing.",
    async (story, show) => { await signInNew(show, story.maria, "apple"); }],
  ["Maria completes her profile", "In any notation of her country; it is kept as E.164.",
    async (story, show) => {
      const me = await saved(show, story.maria, story.maria.atHome);
      expect(me.phone_number === story.maria.phone, `the number ${story.maria.phone}`);
    }],
  ["Maria creates a group", "She owns it.",
    async (story, show) => { story.group = (await call(show, story.maria, "POST", "/groups", { name: "Sunday lunch" }, 201)).id; }],
  ["Maria adds Ana's number", "Nobody here has that number yet, so the group waits for it.",
    async (story, show) => {
      const body = { phone_number: story.ana.atHome, display_name: story.ana.name };
      const member = await call(show, story.maria, "POST", `/groups/${story.group}/members`, body, 201);
      expect(member.state === "pending", "a pending member");
    }],
  ["Ana signs in with Google, and her app watches", "The app opens a stream of what changes in her groups. It is quiet so far.",
    async (story, show) => {
      await signInNew(show, story.ana, "google");
      story.watch?.abort();
      story.watch = new AbortController();
      await new Promise((resolve, reject) => {
        readEvents(story.ana.session.access, story.watch.signal, {}, (type, data) => {
          story.events.push({ type, data, at: performance.now() });
          if (type === "begin") resolve();
          story.onEvent?.(type, data);
        }).then(reject, reject);
      });
      show("GET /me/events", undefined, { status: 200, statusText: "OK", text: "event: begin" });
    }],
  ["Ana saves her number in another notation, and lands in the group, live", "The event comes by the open stream.",
    async (story, show, list) => {
      const start = performance.now();
      const joined = new Promise((resolve, reject) => {
        const limit = setTimeout(() => reject(new Error("Expected group.joined within 10 s.")), 10_000);
        story.onEvent = (type, data) => {
          const item = eventItem(type, data);
          item.firstChild.after(element("span", { class: "time" }, `after ${Math.round(performance.now() - start)} ms`));
          list.append(item);
          if (!data.changes?.some((change) => change.type === "group.joined" && change.group_id === story.group)) return;
          clearTimeout(limit);
          resolve();
        };
      });
      await Promise.all([saved(show, story.ana, story.ana.abroad), joined]);
    }],
  ["Both see the same group", "Maria lists its members, Ana her groups.",
    async (story, show) => {
      const { members } = await call(show, story.maria, "GET", `/groups/${story.group}/members`, undefined, 200);
      expect(members.some((each) => each.user_id === story.ana.id && each.state === "member"), "Ana to be a member");
      const { groups } = await call(show, story.ana, "GET", "/groups", undefined, 200);
      expect(groups.length === 1 && groups[0].id === story.group, "exactly this group");
    }],
  ["Ana's app refreshes its tokens", "The old refresh token is spent.",
    async (story, show) => {
      story.old = story.ana.session.refresh;
      const tokens = await call(show, undefined, "POST", "/auth/refresh", { refresh_token: story.old }, 200);
      story.ana.session.refresh = tokens.refresh_token;
    }],
  ["The answer was lost: a retry returns the same new tokens", "A phone in a tunnel stays signed in.",
    async (story, show) => {
      const tokens = await call(show, undefined, "POST", "/auth/refresh", { refresh_token: story.old }, 200);
      expect(tokens.refresh_token === story.ana.session.refresh, "the same refresh token");
      story.ana.session.access = tokens.access_token;
      add(`google ${story.ana.person.email}`, story.ana.session);
    }],
  ["Maria can't take Ana's number", "A number belongs to one account.",
    async (story, show) => {
      const problem = await call(show, story.maria, "PATCH", "/me", { phone_number: story.ana.phone }, 409);
      expect(problem.code === "PHONE_TAKEN", "PHONE_TAKEN");
    }],
  ["Maria signs out, and her access token is rejected at once", "Not only when it expires.",
    async (story, show) => {
      await call(show, story.maria, "POST", "/auth/sign-out", undefined, 204);
      await call(show, story.maria, "GET", "/me", undefined, 401);
      forget(`apple ${story.maria.person.email}`);
    }],
];

/** Shows the steps. Each can be run once those before it have been. */
export function connectTour(section) {
  const list = section.querySelector("ol");
  const buttons = section.querySelector(".buttons");
  if (!simulator) return section.remove();
  let story = newStory();
  let next = 0;
  const items = STEPS.map(([heading, text, run]) => {
    const button = element("button", { type: "button" }, "Run");
    const results = element("div", { "aria-live": "polite" });
    const item = element("li", { class: "step" },
      element("div", { class: "head" },
        element("div", {}, element("h3", {}, heading), element("p", {}, text)), button),
      results);
    return { item, button, results, run };
  });

  const showNext = () => items.forEach(({ button, item }, index) => {
    button.disabled = index !== next;
    button.classList.toggle("strong", index === next);
    button.textContent = index < next ? "Done" : "Run";
    item.classList.toggle("done", index < next);
  });

  async function runNext(isAlone) {
    const { item, results, run, button } = items[next];
    button.disabled = true;
    results.replaceChildren();
    item.classList.remove("failed");
    const events = element("ul", { class: "events" });
    const show = (title, body, answer, expected = 200) => {
      const texts = [body && JSON.stringify(body), answer.text].filter(Boolean).map(codeBlock);
      const summary = element("summary", {}, element("code", {}, title), " ",
        statusLine(answer, answer.status === expected, "span"));
      const details = element("details", {}, summary, ...texts);
      details.open = isAlone;
      results.append(details);
    };
    try {
      await run(story, show, events);
      next += 1;
    } catch (error) {
      item.classList.add("failed");
      results.append(element("p", { class: "status bad", role: "alert" }, error.message));
      showNext();
      return false;
    } finally {
      if (events.children.length) results.append(events);
    }
    showNext();
    return true;
  }

  for (const { button } of items) button.addEventListener("click", () => runNext(true));
  const all = element("button", { type: "button", class: "strong" }, "Run all steps");
  const again = element("button", { type: "button" }, "Begin anew");
  again.addEventListener("click", () => {
    story.watch?.abort();
    story = newStory();
    next = 0;
    for (const { results, item } of items) {
      results.replaceChildren();
      item.classList.remove("failed");
    }
    showNext();
  });
  all.addEventListener("click", async () => {
    all.disabled = again.disabled = true;
    if (next === STEPS.length) again.click();
    while (next < STEPS.length && await runNext(false)) { /* The next one. */ }
    all.disabled = again.disabled = false;
  });
  buttons.append(all, again);
  list.append(...items.map(({ item }) => item));
  showNext();
}
