import HTTPJSON
import HTTPTypes
import RPC
import WebPages

/// The page of development at `GET /`: sign-ins by the provider simulator, a tour, and every method and route with a form that calls it
/// and a line for a shell.
///
/// Nothing that anybody sent stands in it but the name by which the gateway was asked, and that only if it can mean nothing
/// else to a shell.
struct HomePage: Sendable {
    /// The files that only this page loads.
    static let files: [PageFile] = [
        .consoleStyle, .callScript,
        PageFile("home.js", .script, PackageResources.home_js),
        PageFile("people.js", .script, PackageResources.people_js),
        PageFile("watch.js", .script, PackageResources.watch_js),
        PageFile("tour.js", .script, PackageResources.tour_js),
        PageFile("openid.js", .script, PackageResources.openid_js),
    ]

    private let entries: [HomeTask: [HomeEntry]]
    private let settings: DevelopmentHome
    private let pagesOrigin: String?

    /// A page about every method and these operations.
    ///
    /// - Parameters:
    ///   - routes: the routes of methods.
    ///   - pages: where the pages are that sign in; nil where there are none.
    init(_ operations: [OpenAPI.Operation], routes: [AppRoute], settings: DevelopmentHome, pages: SignInPages?) {
        entries = Dictionary(grouping: HomeEntry.all(operations, routes: routes)) { HomeTask.of($0.id) }
        self.settings = settings
        pagesOrigin = pages?.origin
    }

    /// `GET /`. It is in no description, since it is for people.
    var route: Route {
        Route(.get, "/", isForOtherOrigins: false) { request, context in
            response(authority: request.authority ?? "", isEncrypted: context.peer.isEncrypted)
        }
    }

    /// The page, with lines that call the gateway as it was called.
    func response(authority: String, isEncrypted: Bool) -> Response {
        let name = ShownAuthority.isPlain(authority) ? authority : settings.address
        let base = "\(isEncrypted ? "https" : "http")://\(name)"
        let sections = HomeTask.allCases.compactMap { task in entries[task].map { section(task, $0, base) } }
        var document = PageDocument(title: "Vestibule", body: body(sections))
        document.layout = "console"
        document.styles = [PageAsset.style.file, .consoleStyle]
        document.scripts = Self.files.filter { $0.path.hasSuffix("/home.js") }
        document.callsOwnOrigin = true
        document.calledOrigins = settings.simulator.map { [$0] } ?? []
        return document.response
    }

    private func body(_ sections: [HTML]) -> HTML {
        let tasks = HomeTask.allCases.filter { entries[$0] != nil }
        let contents = tasks.map { "<li><a href=\"#\($0.rawValue)\">\($0.title)</a></li>\n" as HTML }
        let simulator = HTML.attribute("data-simulator", settings.simulator)
        return """
            <main id="home"\(simulator)\(HTML.attribute("data-pages", pagesOrigin))>
            <header class="hero">
            <h1>Vestibule is running</h1>
            <p>A sign-in backend for your app, on this machine and with simulated providers. Sign in, press Run, and see what your app \
            would get. Each call is also a line for your shell.</p>
            <p class="links">\(links)<span id="parts" role="status"></span></p>
            <div id="people" class="with-script"></div>
            \(unscripted)</header>
            <div class="bar with-script">
            <input type="search" id="search" aria-label="Search methods and routes" placeholder="Search methods and routes">
            <p id="who" role="status"></p>
            </div>
            <div class="columns">
            <nav class="contents" aria-label="Contents">
            <ul>
            <li class="with-script"><a href="#tour">Tour</a></li>
            \(contents)</ul>
            </nav>
            <div>
            <section id="tour" class="with-script">
            <h2>Tour</h2>
            <p>The main story, step by step, by real calls: two people who never met in this app, and a group that waits for a phone \
            number. <code>make demo</code> walks it in a terminal.</p>
            <div class="buttons"></div>
            <ol class="tour"></ol>
            </section>
            \(sections)<p id="nothing" role="status"></p>
            </div>
            </div>
            </main>
            """
    }

    private func section(_ task: HomeTask, _ entries: [HomeEntry], _ base: String) -> HTML {
        """
        <section id="\(task.rawValue)">
        <h2>\(task.title)</h2>
        <p>\(task.text)</p>
        \(task == .openID ? hostedSignIn : "")\(entries.map { $0.html(base) })</section>

        """
    }

    /// What else there is to see.
    private var links: [HTML] {
        let links = [
            settings.simulator.map { ("Provider simulator", "\($0)/") },
            pagesOrigin.map { ("Your account", $0 + AccountPage.path) },
            ("OpenAPI", GetDescriptionRoute.operation.path),
            pagesOrigin.map { _ in ("OpenID configuration", GetOpenIDConfigurationRoute.operation.path) },
        ]
        return links.compactMap(\.self).map { "<a href=\"\($1)\">\($0)</a>\n" }
    }

    /// How to begin without scripts.
    private var unscripted: HTML {
        """
        <div class="unscripted">
        <p>Without scripts, this page lists every method and route with a line for a shell. Set these variables first:</p>
        <dl>
        \(ShellVariables.all.map { "<dt><code>\($0.names)</code></dt><dd>\($0.text)</dd>\n" as HTML })</dl>
        </div>

        """
    }

    /// The way to the pages that sign in, as an app goes it.
    private var hostedSignIn: HTML {
        guard let pagesOrigin else { return "" }
        let address =
            "\(pagesOrigin)\(AuthorizeRoute.path)?\(Self.hostedQuery)&redirect_uri=\(FormFields.encode(pagesOrigin + "/"))"
        let line =
            "curl -sS \(pagesOrigin)\(IssueTokensRoute.path) -d grant_type=authorization_code -d client_id=\(Self.clientID) "
            + "-d redirect_uri=\(pagesOrigin)/ -d code_verifier=\(Self.verifier) -d code=$CODE"
        return """
            <div class="panel" id="hosted">
            <p><a class="button strong" href="\(address)">Sign in by the hosted page</a></p>
            <output></output>
            <p class="unscripted">The browser comes back to this page with a code in its address, for this line:</p>
            <pre class="unscripted"><code>\(line)</code></pre>
            </div>

            """
    }

    /// The client that `make run` configures.
    private static let clientID = "demo"
    /// The verifier of a browser without scripts, which can make none: that of RFC 7636, appendix B. It protects nothing, and nothing is
    /// to be protected here.
    private static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    private static let hostedQuery =
        "response_type=code&client_id=\(clientID)&scope=openid+profile+email&code_challenge_method=S256"
        + "&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
}
