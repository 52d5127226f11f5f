import HTTPJSON
import HTTPTypes
import WebPages

/// The page on which the user chooses who signs in: a person who signed in lately, or anyone by name and address.
enum ChoicePage {
    /// - Parameter fault: the error in the choice before; nil the first time.
    static func response(_ request: AuthorizationRequest, people: [Person], fault: String? = nil) -> Response {
        let provider = request.provider
        let scopes = request.scopes.isEmpty ? "nothing more than who you are" : request.scopes.joined(separator: ", ")
        let known: HTML =
            people.isEmpty
            ? ""
            : """
            <h2>Who are you?</h2>
            <div class="buttons">
            \(people.map(button))</div>

            """
        let hide: HTML =
            provider == .apple
            ? "<label class=\"check\"><input type=\"checkbox\" name=\"hide_email\" value=\"on\"> Hide my e-mail</label>\n"
            : ""
        let told: HTML = fault.map { "<p class=\"notice\" role=\"alert\">\($0)</p>\n" } ?? ""
        let page: HTML =
            """
            <h1>Sign in with \(provider.title)</h1>
            <p>This is a simulator: you can sign in as anyone. <code>\(request.clientID)</code> asks for \(scopes), \
            and gets the response at <code>\(request.redirectURI)</code>.</p>
            \(told)<form method="post">
            \(HTML.hidden(request.parameters))\(known)<h2>Somebody else</h2>
            <div class="fields">
            <label>E-mail <input type="email" name="email" value="someone@example.com" required maxlength="254"></label>
            <label>Given name <input type="text" name="given_name" value="Some" maxlength="100"></label>
            <label>Family name <input type="text" name="family_name" value="One" maxlength="100"></label>
            \(hide)</div>
            <p class="buttons"><button class="strong" id="continue" name="action" value="continue">Continue</button>
            <button id="cancel" name="action" value="cancel" formnovalidate>Cancel</button></p>
            </form>

            """
        return .page(
            title: "Sign in with \(provider.title) (simulated)",
            page,
            status: fault == nil ? .ok : .badRequest
        )
    }

    private static func button(_ person: Person) -> HTML {
        let words = [person.fullName, person.toldEmail].compactMap { $0 }.joined(separator: ", ")
        let shown = words.isEmpty ? person.subject : words
        return "<button name=\"sub\" value=\"\(person.subject)\" formnovalidate>\(shown)</button>\n"
    }
}

/// The page that posts the response to the app's server: automatically, or after a click without scripts.
enum FormPostPage {
    static func response(_ fields: [(name: String, value: String)], to uri: String, provider: Provider) -> Response {
        .page(
            title: "Back to the app",
            """
            <h1>Signed in with \(provider.title)</h1>
            <form id="answer" class="forward" method="post" action="\(uri)">
            \(HTML.hidden(fields))<button class="strong" id="continue">Back to the app</button>
            </form>

            """,
            scripts: [HomePage.script]
        )
    }
}

extension Response {
    /// A page of a provider. Its forms go to the app, and as at the real providers the app sees the page's origin.
    static func page(
        title: String,
        _ body: HTML,
        scripts: [PageFile] = [],
        status: HTTPResponse.Status = .ok
    ) -> Response {
        var document = PageDocument(title: title, body: "<main>\n\(body)</main>")
        document.layout = "console card"
        document.styles = [.style, .consoleStyle]
        document.scripts = scripts
        document.formTargets = nil
        document.referrerPolicy = "strict-origin"
        document.status = status
        return document.response
    }
}

/// The page for a request whose error cannot be sent back to the app.
enum ErrorPage {
    static func response(_ fault: AuthorizationError, provider: Provider) -> Response {
        .page(
            title: "\(provider.title): \(fault.word)",
            """
            <h1>\(fault.word)</h1>
            <p class="notice">\(fault.sentence)</p>
            <p>The real \(provider.title) would show an error here as well, and not redirect to the app.</p>

            """,
            status: .badRequest
        )
    }
}
