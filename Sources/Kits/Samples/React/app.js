// A page in React without a build step: it signs in by the server's page, and shows the user's groups as they change.
// cut: client
import { Vestibule } from "./vestibule.js";
import { errorText } from "./vestibule-texts.js";
import { settings } from "./settings.js";

const vestibule = new Vestibule(settings);
// If this is the way back from the sign-in page, it signs in, and else does nothing.
const finished = vestibule.finishRedirect();
// cut end

const { createElement: h, useEffect, useState } = React;

// cut: user
/** The user's id, null if nobody is signed in, undefined until that is known. */
function useUser(onError) {
  const [user, setUser] = useState();
  // Also called for changes by other tabs, and when the server has ended the session: `code` says why, this once.
  useEffect(() => vestibule.onState(({ userId, code }) => {
    setUser(userId ?? null);
    if (code) onError({ code });
  }), []);
  return user;
}
// cut end

// cut: sign-in
function SignIn({ onError }) {
  return h("button", { onClick: () => vestibule.signInWithRedirect().catch(onError) }, "Sign in");
}
// cut end

// cut: guest
/** What a user does who begins without a provider, and what becomes of the guest after a sign-in to an account. */
function Guest({ user, onError }) {
  const [{ isGuest, kept }, setGuest] = useState({});
  const read = async () => setGuest({ isGuest: (await vestibule.state()).isGuest, kept: await vestibule.keptGuest() });
  useEffect(() => void read().catch(onError), [user]);
  const decide = (outcome) => vestibule.absorbGuest(outcome).then(read).catch(onError);
  if (!user) return h("button", { onClick: () => vestibule.signInAsGuest("Browser").catch(onError) }, "Continue as guest");
  if (isGuest) return h(SignIn, { onError });
  return kept && h("p", null, "You began as a guest. ",
    h("button", { onClick: () => decide("merge") }, "Take my groups with me"),
    h("button", { onClick: () => decide("drop") }, "Delete them"));
}
// cut end

// cut: groups
/** The groups, which are read after the first message of the stream, and again at each change. */
function useGroups(onError) {
  const [groups, setGroups] = useState([]);
  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    const read = () => vestibule.listGroups({}, { signal }).then(({ groups }) => setGroups(groups)).catch(report);
    // A page that goes away, and a user who does, are no errors.
    const report = (error) => signal.aborted || error.code === "SIGNED_OUT" || onError(error);
    (async () => {
      // Not before: a change between the reading and the first message would be missed.
      for await (const message of vestibule.events({ signal })) await read();
    })().catch(report);
    return () => stop.abort();
  }, []);
  return groups;
}
// cut end

function Profile({ onError }) {
  const [name, setName] = useState("");
  useEffect(() => void vestibule.getMe().then(({ displayName }) => setName(displayName ?? ""), onError), []);
  // cut: profile
  const save = async (event) => {
    event.preventDefault();
    try {
      const { displayName } = await vestibule.updateMe({ displayName: name });
      setName(displayName);
      onError(null);
    } catch (error) {
      onError(error);
    }
  };
  // cut end
  return h("form", { onSubmit: save },
    h("label", null, "Your name ", h("input", { value: name, onChange: (event) => setName(event.target.value) })),
    h("button", null, "Save"));
}

function Groups({ onError }) {
  const groups = useGroups(onError);
  const [name, setName] = useState("");
  const create = (event) => {
    event.preventDefault();
    vestibule.createGroup({ name }).then(() => setName(""), onError);
  };
  return h("section", null,
    h("ul", null, groups.map((group) => h("li", { key: group.groupId }, group.name))),
    h("form", { onSubmit: create },
      h("label", null, "New group ", h("input", { value: name, onChange: (event) => setName(event.target.value) })),
      h("button", null, "Create")));
}

function App() {
  const [error, setError] = useState(null);
  const user = useUser(setError);
  useEffect(() => void finished.catch(setError), []);
  return h("main", null,
    h("h1", null, "Groups"),
    // cut: error
    error && h("p", { role: "alert" }, errorText(error)),
    // cut end
    user === null && h(SignIn, { onError: setError }),
    user !== undefined && h(Guest, { user, onError: setError }),
    user && h(React.Fragment, { key: user },
      h(Profile, { onError: setError }),
      h(Groups, { onError: setError }),
      h("button", { onClick: () => vestibule.signOut().catch(setError) }, "Sign out")));
}

ReactDOM.createRoot(document.querySelector("#app")).render(h(App));
