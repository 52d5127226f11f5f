/// The look of pages with links to others, parts and forms; it goes with ``PageStyle``.
public enum FormStyle {
    /// The style sheet.
    public static let text = """
        nav { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; width: 100%; max-width: 36rem; padding: 0 .5rem 1rem; }
        nav a { padding: .5rem 0; color: var(--quiet); text-underline-offset: .25em; }
        nav a[aria-current] { color: var(--text); font-weight: 600; text-decoration-thickness: 2px; }
        nav + main { max-width: 36rem; }
        body:has(> nav) { place-items: start center; align-content: start; }
        section { margin-block: 2rem; }
        h2 { margin: 0 0 .75rem; font-size: 1.125rem; line-height: 1.3; }
        form { margin: 0; }
        form + form, form button + button, .after, section > form, section > ul + form { margin-block-start: .75rem; }
        .card { padding: .75rem 1rem; border: 1px solid var(--line); border-radius: .5rem; }
        .card p { margin-block-end: .5rem; }
        p.name { color: var(--text); font-weight: 600; }
        .mark { margin-inline-start: .25rem; padding: .125rem .5rem; border: 1px solid var(--line); border-radius: 1rem;
          font-size: .875rem; font-weight: 400; white-space: nowrap; }
        .card > form { display: inline-block; margin: 0; margin-inline-end: .5rem; }
        button.small { width: auto; min-height: 2.25rem; padding: .25rem .75rem; }
        button.danger { border-color: var(--danger); color: var(--danger); }
        details { margin-block-end: .5rem; }
        summary { display: inline-block; padding: .25rem 0; cursor: pointer; text-decoration: underline; text-underline-offset: .25em; }
        summary:focus-visible, input:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; border-radius: .25rem; }
        details form { margin-block: .5rem; }
        details form button { margin-block-start: .5rem; }
        dl { margin: 0 0 1rem; }
        dl div + div { margin-block-start: .5rem; }
        dt, .hint { color: var(--quiet); font-size: .875rem; }
        dd { margin: 0; }
        .field { margin-block-end: 1.25rem; }
        .field p { margin: .25rem 0 0; }
        label { display: block; margin-block-end: .25rem; font-weight: 600; }
        label .hint { font-weight: 400; }
        input:not([type=checkbox]) {
          width: 100%; min-height: 2.75rem; padding: .5rem .75rem; border: 1px solid var(--field); border-radius: .5rem;
          background: var(--card); color: var(--text); font: inherit;
        }
        input[dir=ltr] { text-align: start; }
        input[aria-invalid] { border-color: var(--danger); border-width: 2px; }
        p.error { color: var(--danger); }
        .check { display: flex; gap: .75rem; align-items: start; color: var(--text); }
        .check input { inline-size: 1.25rem; block-size: 1.25rem; margin: .125rem 0 0; flex: none; }
        .check label { margin: 0; font-weight: 400; }
        div.notice { margin-block-end: 1rem; padding: .75rem 1rem; border-radius: .5rem; background: var(--notice); }
        div.notice p { color: var(--text); }
        div.notice > :last-child { margin-block-end: 0; }
        .hidden { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
        :root { --field: #767680; --danger: #b3261e; }
        @media (prefers-color-scheme: dark) { :root { --field: #8e8e99; --danger: #ffb4ab; } }

        """
}
