/// The look of what only the console has.
enum ConsoleStyle {
    static let text = """
        body.console { place-items: start center; align-content: start; grid-template-columns: minmax(0, 1fr); }
        body.console > nav, body.console > main { max-width: 64rem; }
        body.console a.skip { position: absolute; inset-inline-start: -100rem; }
        body.console a.skip:focus { position: static; }
        nav .who { display: flex; gap: .75rem; align-items: center; margin-inline-start: auto; color: var(--quiet); }
        nav .who button { width: auto; }
        [hidden] { display: none; }
        .scroll { overflow-x: auto; margin-block-end: 1rem; }
        table { width: 100%; border-collapse: collapse; font-size: .9375rem; overflow-wrap: normal; }
        caption { text-align: start; color: var(--quiet); padding-block-end: .5rem; }
        th, td { padding: .375rem .75rem .375rem 0; border-block-end: 1px solid var(--line); text-align: start; vertical-align: top; }
        code { overflow-wrap: anywhere; }
        td code { overflow-wrap: break-word; }
        td time { white-space: nowrap; }
        select {
          width: 100%; min-height: 2.75rem; padding: .5rem .75rem; border: 1px solid var(--field); border-radius: .5rem;
          background: var(--card); color: var(--text); font: inherit;
        }
        select:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
        form.inline { display: flex; flex-wrap: wrap; gap: .75rem; align-items: end; margin-block-end: 1rem; }
        form.inline > div { flex: 1 1 9rem; }
        form.inline button { width: auto; }
        .failure { color: var(--danger); font-weight: 600; }
        figure { margin: 0 0 2rem; }
        svg.chart { display: block; width: 100%; height: auto; }
        svg .grid { stroke: var(--line); fill: none; }
        svg text { fill: var(--quiet); font-size: 12px; }
        svg text.value { text-anchor: end; dominant-baseline: middle; }
        svg text.end { text-anchor: end; }
        svg .line { fill: none; stroke-width: 2; stroke-linejoin: round; vector-effect: non-scaling-stroke; }
        svg.key { width: 1.5rem; height: .5rem; }
        ul.legend { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; margin: .5rem 0 0; font-size: .875rem; }
        ul.legend li + li { margin: 0; }
        .s0 { stroke: var(--c0); } .s1 { stroke: var(--c1); stroke-dasharray: 6 3; } .s2 { stroke: var(--c2); stroke-dasharray: 2 3; }
        .s3 { stroke: var(--c3); stroke-dasharray: 8 3 2 3; } .s4 { stroke: var(--c4); stroke-dasharray: 12 4; }
        .s5 { stroke: var(--c5); stroke-dasharray: 4 2 1 2; }
        :root { --c0: #1d4fc4; --c1: #a13d00; --c2: #1b6b2f; --c3: #7a2a9c; --c4: #9c1f4f; --c5: #0b6470; }
        @media (prefers-color-scheme: dark) {
          :root { --c0: #9db9ff; --c1: #ffb38a; --c2: #8fd6a0; --c3: #dcaaf5; --c4: #ff9ec0; --c5: #7fd8e4; }
        }

        """
}

/// Asks for a page again every five seconds, until it is paused, hidden, or answered by another one. Without it the operator loads the page.
enum ConsoleScript {
    static let text = #"""
        const main = document.querySelector("main[data-live]");
        const button = document.querySelector("button[data-pause]");
        let isPaused = false;
        button.hidden = false;
        button.addEventListener("click", () => {
          isPaused = !isPaused;
          button.setAttribute("aria-pressed", isPaused);
        });
        async function refresh() {
          if (isPaused || document.hidden) return;
          const answer = await fetch(location.pathname + "?live=1").catch(() => null);
          if (!answer) return;
          if (!answer.ok || answer.redirected) return location.reload();
          const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("[data-part]");
          if (fresh) main.querySelector("[data-part]").replaceWith(fresh);
        }
        setInterval(refresh, 5000);

        """#
}
