/// What pages with passkeys do. It is a file of its own, since most pages have nothing of it. Without it, what needs it stays hidden, and
/// what stands in its place is shown.
enum PasskeyScript {
    static let text = #"""
        const canUsePasskeys = Boolean(
          window.PublicKeyCredential?.parseRequestOptionsFromJSON && PublicKeyCredential.parseCreationOptionsFromJSON
            && PublicKeyCredential.prototype.toJSON);

        /** Says a sentence below the form, or nothing. */
        function say(form, sentence = "") {
          const place = form.querySelector("[role=alert]");
          place.textContent = sentence;
          place.hidden = !sentence;
        }

        for (const part of document.querySelectorAll("[data-passkeys]")) {
          part.hidden = part.dataset.passkeys !== (canUsePasskeys ? "usable" : "unusable");
        }

        // Signing in

        const signIn = document.querySelector("form.passkey");
        // A page that is left open asks for no challenges for ever.
        let suggestionsLeft = 12;
        // Ends the request behind the field's suggestions. A browser has one request of passkeys at a time.
        let suggestion = null;
        let isSigningIn = false;

        /** Sends fields to a path of ours; returns the members of the answer. */
        async function post(path, fields) {
          const body = new URLSearchParams({ ...fields, ui_locales: document.documentElement.lang });
          return (await fetch(path, { method: "POST", body })).json();
        }

        /** Has the user choose a passkey; returns what the server answered. Throws what the browser throws. */
        async function choose(more) {
          const begun = await post(signIn.dataset.challenge, {});
          if (!begun.options) return begun;
          more.begun?.(begun);
          const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(begun.options);
          more.signal?.throwIfAborted();
          const credential = await navigator.credentials.get({ publicKey, signal: more.signal, mediation: more.mediation });
          const answer = await post(signIn.action, {
            request: signIn.elements.request.value, ticket: begun.ticket, credential: JSON.stringify(credential),
          });
          // The device then stops offering a passkey that opens nothing.
          if (answer.code === "PASSKEY_UNKNOWN") {
            await PublicKeyCredential.signalUnknownCredential?.({ rpId: publicKey.rpId, credentialId: credential.id })?.catch(() => {});
          }
          return answer;
        }

        /** Goes on after a sign-in, or says why there is none. */
        function finish(answer) {
          if (answer.location) location.assign(answer.location);
          else say(signIn, answer.sentence ?? signIn.dataset.later);
          return Boolean(answer.location);
        }

        /** Has the browser suggest passkeys in the field, and suggest them anew before the challenge ends. */
        async function suggest() {
          if (suggestionsLeft-- <= 0) return;
          const control = new AbortController();
          suggestion = control;
          const begun = ({ expires_in }) => setTimeout(() => {
            if (suggestion !== control || isSigningIn) return;
            control.abort();
            suggest();
          }, Math.max(expires_in - 60, 60) * 1000);
          try {
            const answer = await choose({ mediation: "conditional", signal: control.signal, begun });
            if (answer.location) finish(answer);
            // A page whose suggestions can't begin says nothing of it: the user has asked for nothing.
            else if (answer.code !== undefined) say(signIn, answer.sentence);
          } catch {
            // The user has chosen none.
          }
        }

        async function signInByButton(event) {
          event.preventDefault();
          if (isSigningIn) return;
          isSigningIn = true;
          suggestion?.abort();
          say(signIn);
          let hasFinished = false;
          try {
            hasFinished = finish(await choose({}));
          } catch (error) {
            say(signIn, error instanceof DOMException ? signIn.dataset.none : signIn.dataset.later);
          }
          isSigningIn = false;
          if (!hasFinished && !signIn.querySelector(".field").hidden) suggest();
        }

        if (signIn && canUsePasskeys) {
          signIn.addEventListener("submit", signInByButton);
          PublicKeyCredential.isConditionalMediationAvailable?.().then((canSuggest) => {
            if (!canSuggest) return;
            signIn.querySelector(".field").hidden = false;
            if (!isSigningIn) suggest();
          }).catch(() => {});
        }

        // Adding one

        const adding = document.querySelector("form.new-passkey");
        let isAdding = false;
        adding?.addEventListener("submit", async (event) => {
          event.preventDefault();
          if (isAdding) return;
          // A passkey that is made for a challenge of long ago would be refused.
          if (performance.now() > adding.dataset.seconds * 1000) return location.reload();
          isAdding = true;
          say(adding);
          try {
            const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(JSON.parse(adding.dataset.options));
            const credential = await navigator.credentials.create({ publicKey });
            adding.elements.credential.value = JSON.stringify(credential);
            adding.submit();
          } catch (error) {
            say(adding, error.name === "InvalidStateError" ? adding.dataset.there : adding.dataset.none);
            isAdding = false;
          }
        });

        """#
}
