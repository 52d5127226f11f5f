import API
import HTTPJSON
import HTTPTypes
import JOSE
import Logging

/// `POST /auth/v1/callback`: takes what a provider posts (`form_post`), and sends the browser on to the app with a code. Every answer is a
/// page.
///
/// No cookie says that this browser began it: it began by a call of the app from another origin, which may set none. The verifier says so
/// when the code is redeemed. So identity takes the state of a link here alone, and not that of a sign-in.
enum SupabaseCallback {
    static let path = "/auth/v1/callback"

    static let operation = OpenAPI.Operation(
        .post,
        path,
        id: "supabaseCallback",
        tag: .auth,
        summary: "Takes what a provider posts, and sends the browser on to the app",
        description: "The provider's form_post, of what /auth/v1/user/identities/authorize began.",
        caller: .anyone,
        body: .form(.providerForm),
        answers: [200: .page("Leads to the app, with a code.")],
        problems: [.forbidden],
        answersPages: true
    )

    /// What the provider must know.
    static func url(_ webSignIn: WebSignIn) -> String {
        webSignIn.callbackURL.dropLast(WebSignIn.callbackPath.utf8.count) + path
    }

    static func endpoint(_ parts: DialectParts, _ webSignIn: WebSignIn) -> Endpoint {
        Endpoint(operation, isForOtherOrigins: false) { request, context in
            let text = parts.languages.text(for: request)
            do {
                let form = try await ProviderForm(request, context)
                if form.error != nil { return BrowserPage.failure(.notSignedIn, .goBack, in: text, status: .ok) }
                var call = form.finishRequest(
                    provider: "",
                    browserState: form.state,
                    redirectURI: url(webSignIn)
                )
                call.isLink = true
                let options = parts.authentication.callOptionsWithAddress(.route(request, context))
                let finished = try await parts.backends.identity.finishWebSignIn(call, options: options)
                // Checked again: the list may have changed since the state was made.
                guard !finished.appURL.isEmpty, let app = webSignIn.appURL(finished.appURL) else {
                    throw Problem(
                        .forbidden,
                        code: "APP_URL_UNKNOWN",
                        detail: "The app's URL is not configured any more."
                    )
                }
                let code = SupabaseCode(finished).text
                return BrowserPage.forward(to: app.adding([("code", code)]), in: text)
            } catch {
                let problem = Problem(answering: error)
                problem.note("linking by a provider's page failed", context.logger)
                return FinishAppleByWebRoute.page(telling: problem, in: text)
            }
        }
    }
}

/// What the app redeems: the provider's name and the two tickets. A secret.
struct SupabaseCode: Sendable, Hashable {
    private static let separator: Character = "."

    let provider: String
    let idTokenTicket: String
    let codeTicket: String

    init(_ finished: IdentityV1.FinishWebSignInResponse) {
        provider = finished.provider
        idTokenTicket = finished.idTokenTicket
        codeTicket = finished.codeTicket
    }

    /// The code of a text; nil for one that can be none.
    init?(_ text: String) {
        let parts = text.split(separator: Self.separator, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3 else { return nil }
        (provider, idTokenTicket, codeTicket) = (parts[0], parts[1], parts[2])
    }

    var text: String { [provider, idTokenTicket, codeTicket].joined(separator: String(Self.separator)) }
}
