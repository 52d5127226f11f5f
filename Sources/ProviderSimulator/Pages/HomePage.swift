import HTTPJSON
import JOSE
import WebPages

/// The page at the root: people to sign in as, every control with a form and a line for a shell, and the endpoints.
enum HomePage {
    /// Sends the form that carries an answer to an app, and makes the forms of this page work.
    static let script = PageFile("simulator.js", .script, PackageResources.simulator_js)
    /// The files that the simulator's pages load.
    static let files: [PageFile] = [.icon, .style, .consoleStyle, .callScript, script]

    /// Host and port to show where a request says none that could be shown.
    private static let otherName = "127.0.0.1:7080"

    static func response(authority: String, people: JSONObject) -> Response {
        let name = ShownAuthority.isPlain(authority) ? authority : otherName
        let base = "http://\(name)"
        let entries = ControlForm.all(people).map { $0.html(base) }
        var document = PageDocument(title: "Provider simulator", body: body(entries, people))
        document.layout = "console"
        document.styles = [.style, .consoleStyle]
        document.scripts = [script]
        document.callsOwnOrigin = true
        return document.response
    }

    private static func body(_ entries: [HTML], _ people: JSONObject) -> HTML {
        """
        <main>
        <header class="hero">
        <h1>Provider simulator</h1>
        <p>It simulates Apple, Google and Facebook for development and tests. Anyone can sign in as anyone: never let it be reached \
        from where real apps or users are.</p>
        </header>
        <section id="people">
        <h2>People</h2>
        <p>Choose somebody, and the forms below are about them. Everybody has an account at every provider.</p>
        <ul class="chips with-script">
        \(chips(people))</ul>
        <p class="hint">To be somebody else, write another e-mail address into a form.</p>
        </section>
        <section id="controls">
        <h2>Controls</h2>
        <p>What a phone gets from a provider, and what providers do at their worst. Sources/ProviderSimulator/README.md describes all of \
        it.</p>
        \(entries)</section>
        <section id="endpoints">
        <h2>Endpoints</h2>
        <p>Configure your server with these in place of the real ones.</p>
        \(endpoints)</section>
        </main>
        """
    }

    private static func chips(_ people: JSONObject) -> [HTML] {
        (people["people"]?.array ?? []).compactMap(\.object).map { person -> HTML in
            func text(_ name: String) -> String { person[name]?.string ?? "" }
            let subjects = person["subjects"]?.object ?? JSONObject()
            let (email, name) = (text("email"), "\(text("given_name")) \(text("family_name"))")
            let isOfCast = Cast.people(.apple).contains { $0.email == email }
            let shown = isOfCast ? name : name == " " ? email : "\(name), \(email)"
            return """
                <li><button type="button" aria-pressed="false" data-email="\(email)" data-given="\(text("given_name"))" \
                data-family="\(text("family_name"))"\(HTML.attribute("data-apple", subjects["apple"]?.string))\
                \(HTML.attribute("data-google", subjects["google"]?.string))>\(shown)</button></li>

                """
        }
    }

    private static var endpoints: HTML {
        """
        <table>
        <tr><th>Apple</th><td><a href="/apple/auth/keys">/apple/auth/keys</a>, <code>/apple/auth/authorize</code>, \
        <code>POST /apple/auth/token</code>, <code>POST /apple/auth/revoke</code>, <code>POST /apple/auth/usermigrationinfo</code></td></tr>
        <tr><th>Google</th><td><a href="/google/oauth2/v3/certs">/google/oauth2/v3/certs</a>, <code>/google/o/oauth2/v2/auth</code>, \
        <code>POST /google/token</code>, <code>POST /google/revoke</code>, <code>/google/tokeninfo</code>, \
        <code>/google/oauth2/v3/userinfo</code></td></tr>
        <tr><th>Facebook</th><td>\
        <a href="/facebook/.well-known/oauth/openid/jwks/">/facebook/.well-known/oauth/openid/jwks/</a>, \
        <code>/facebook/debug_token</code>, <code>/facebook/me</code></td></tr>
        </table>

        """
    }
}
