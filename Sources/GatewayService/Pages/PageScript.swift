/// What pages do better with a script. Without it, the user presses the button, follows the link or loads the page again.
enum PageScript {
    static let text = #"""
        // Sends the form that carries an answer to an app, and follows the link that leads back to one.
        document.querySelector("form.forward")?.requestSubmit();
        const link = document.querySelector("a.forward");
        if (link) location.replace(link.href);

        // Writes moments as the user's language and time zone have them.
        function writeTimes(within) {
          const format = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" });
          for (const time of within.querySelectorAll("time")) time.textContent = format.format(new Date(time.dateTime));
        }
        writeTimes(document);

        // An invitation's token is in the fragment, which no server sees.
        const invitation = document.querySelector("form.invitation");
        if (invitation && location.hash.length > 1) {
          invitation.elements.invitation.value = location.hash.slice(1);
          history.replaceState(null, "", location.pathname);
          invitation.requestSubmit();
        }

        // Groups the digits of a phone number while it is typed; the server reads it with or without spaces.
        const sizes = { 1: [1, 3, 3, 4], 63: [2, 3, 3, 4], 0: [4, 3, 4] };
        function grouped(text) {
          const digits = text.replace(/\D/g, "");
          const isInternational = text.trimStart().startsWith("+");
          const key = isInternational ? Object.keys(sizes).find((code) => code !== "0" && digits.startsWith(code)) : "0";
          const groups = [];
          let rest = digits;
          for (const size of sizes[key] ?? [2]) {
            if (rest) groups.push(rest.slice(0, size));
            rest = rest.slice(size);
          }
          while (rest) {
            groups.push(rest.slice(0, 3));
            rest = rest.slice(3);
          }
          return (isInternational ? "+" : "") + groups.join(" ");
        }
        for (const field of document.querySelectorAll("input[type=tel]")) {
          const write = () => {
            // The caret stays behind the digit that it was behind.
            const marks = (text) => text.replace(/[^+\d]/g, "").length;
            const before = marks(field.value.slice(0, field.selectionStart ?? field.value.length));
            field.value = grouped(field.value);
            let place = 0;
            while (place < field.value.length && marks(field.value.slice(0, place)) < before) place += 1;
            if (document.activeElement === field) field.setSelectionRange(place, place);
          };
          if (field.value) write();
          field.addEventListener("input", write);
        }

        // Selects a link that is to be copied.
        const copied = document.querySelector("input[readonly]");
        copied?.addEventListener("focus", () => copied.select());

        // Asks for a list anew when it has changed.
        const live = document.querySelector("[data-live]");
        if (live) {
          let isAsking = false;
          let isStale = false;
          async function ask() {
            isStale = true;
            if (isAsking) return;
            isAsking = true;
            while (isStale) {
              isStale = false;
              const answer = await fetch(live.dataset.people + location.search).catch(() => null);
              if (!answer) continue;
              if (!answer.ok || answer.redirected) return location.reload();
              swap(await answer.text());
            }
            isAsking = false;
          }
          function swap(html) {
            const fresh = document.createElement("div");
            fresh.innerHTML = html;
            writeTimes(fresh);
            if (fresh.textContent === live.textContent) return;
            // Who was at a button stays at it, if it is still there.
            const form = live.contains(document.activeElement) ? document.activeElement.form?.getAttribute("action") : null;
            live.replaceChildren(...fresh.childNodes);
            if (form) live.querySelector(`form[action="${CSS.escape(form)}"] button`)?.focus();
            const changed = document.getElementById("changed");
            changed.textContent = changed.dataset.text;
          }
          new EventSource(live.dataset.live).addEventListener("changed", ask);
        }

        """#
}
