import React, { useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
// cut: client
import { Vestibule } from "../vestibule/vestibule.js";
import { errorText } from "../vestibule/vestibule-texts.js";

const vestibule = new Vestibule({ url: import.meta.env.VITE_VESTIBULE_URL ?? "http://127.0.0.1:8080", clientId: "demo" });
// If this is the way back from the sign-in page, it signs in, and else does nothing.
const finished = vestibule.finishRedirect();
// cut end

function App() {
  const [state, setState] = useState();
  const [profile, setProfile] = useState();
  const [error, setError] = useState();
  useEffect(() => vestibule.onState((state) => {
    setState(state);
    // Why the server has ended the session; this once.
    if (state.code) setError(state);
  }), []);
  useEffect(() => void finished.catch(setError), []);
  useEffect(() => {
    setProfile(undefined);
    if (state?.userId) vestibule.getMe().then(setProfile, setError);
  }, [state?.userId]);
  return (
    <main>
      {error && <p role="alert">{errorText(error)}</p>}
      {state?.state === "signedOut" && (
        <button onClick={() => vestibule.signInWithRedirect({ redirectUri: `${location.origin}/callback` }).catch(setError)}>Sign in</button>
      )}
      {profile && <p>Hello {profile.displayName ?? "there"}</p>}
      {state?.userId && <button onClick={() => vestibule.signOut().catch(setError)}>Sign out</button>}
    </main>
  );
}

createRoot(document.querySelector("#app")).render(<App />);
