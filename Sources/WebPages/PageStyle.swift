/// The look of the pages: a card in the middle, in the fonts of the system, light or dark as the user has it.
public enum PageStyle {
    /// The background of the card where the user has the light color scheme.
    public static let lightCard = PageColor.white
    /// The same in the dark one.
    public static let darkCard = PageColor(red: 0x1d, green: 0x1d, blue: 0x22)

    /// The style sheet.
    public static let text = """
        :root {
          color-scheme: light dark;
          --page: #f4f4f6; --card: #\(lightCard.digits); --text: #1b1b1f; --quiet: #55555f; --line: #d0d0d8;
          --strong: #000; --on-strong: #fff; --focus: #2457d6; --notice: #fdf1dc; --link: #1d4fc4;
          --apple: #000; --on-apple: #fff; --google: #fff; --on-google: #1f1f1f; --google-line: #747775;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --page: #121215; --card: #\(darkCard.digits); --text: #f1f1f4; --quiet: #b3b3bd; --line: #46464f;
            --strong: #fff; --on-strong: #000; --focus: #8fb0ff; --notice: #3d3115; --link: #9db9ff;
            --apple: #fff; --on-apple: #000; --google: #131314; --on-google: #e3e3e3; --google-line: #8e918f;
          }
        }
        * { box-sizing: border-box; }
        body {
          margin: 0; min-height: 100vh; min-height: 100dvh; display: grid; place-items: center; padding: 1rem;
          background: var(--page); color: var(--text); font: 1rem/1.5 system-ui, sans-serif;
        }
        main {
          width: 100%; max-width: 25rem; padding: 2rem 1.5rem; background: var(--card);
          border: 1px solid var(--line); border-radius: 1rem; overflow-wrap: anywhere;
        }
        img.logo { display: block; width: 4rem; height: 4rem; margin: 0 0 1rem; object-fit: contain; border-radius: .75rem; }
        h1 { margin: 0 0 1rem; font-size: 1.5rem; line-height: 1.25; text-wrap: balance; }
        p { margin: 0 0 1rem; color: var(--quiet); }
        p.notice { padding: .75rem 1rem; border-radius: .5rem; background: var(--notice); color: var(--text); }
        ul { margin: 0; padding: 0; list-style: none; }
        li + li { margin-top: .75rem; }
        a.button, button {
          display: flex; align-items: center; justify-content: center; gap: .625rem; width: 100%; min-height: 2.75rem;
          padding: .5rem 1rem; border: 1px solid var(--line); border-radius: .5rem; background: var(--card);
          color: var(--text); font: inherit; font-weight: 600; text-align: center; text-decoration: none; cursor: pointer;
          transition: opacity .15s;
        }
        a.apple, button.apple { border-color: var(--apple); background: var(--apple); color: var(--on-apple); }
        a.google, button.google { border-color: var(--google-line); background: var(--google); color: var(--on-google); }
        a.facebook, button.facebook { border-color: #0866ff; background: #0866ff; color: #fff; }
        a.strong, button.strong { border-color: var(--strong); background: var(--strong); color: var(--on-strong); }
        a.button img { display: block; flex: none; }
        p.down { margin: .375rem 0 0; font-size: .875rem; }
        p.aside { margin: 1.25rem 0 0; text-align: center; font-size: .875rem; }
        p.detail { font-size: .875rem; }
        ul.links { margin: 0 0 1rem; }
        a { color: var(--link); }
        a.button:hover, button:hover { opacity: .85; }
        a:focus-visible, button:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
        @media (prefers-reduced-motion: reduce) { * { transition: none !important; } }

        """
}
