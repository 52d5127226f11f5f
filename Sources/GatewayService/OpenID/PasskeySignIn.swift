import API
import HTTPJSON
import HTTPTypes
import JOSE
import Logging
import WebPages

/// `POST /sign-in/passkey/challenge` and `POST /sign-in/passkey`: a sign-in by a passkey, as the script of the sign-in page makes it.
///
/// Both answer JSON, and the script goes on to the address that it gets: browsers apply the page's `form-action` to where the answer of
/// a form redirects, which may be a client.
///
/// A credential is accepted only with the ticket of its challenge, which the browser's cookie alone can have: no site signs a browser in
/// as somebody else. Several windows share the cookie.
enum PasskeySignIn {
    static let path = "/sign-in/passkey"
    static let challengePath = "\(path)/challenge"

    /// How long the browser keeps the cookie, in seconds: longer than any challenge is valid.
    private static let maxAgeSeconds: Int64 = 600
    private static let secretByteCount = 32
    private static let secretCharacterCount = 43
    private static let ticketLabel = "vestibule passkey ticket 1"

    /// They are in no description, since only the page calls them.
    static func routes(_ parts: OpenIDParts) -> [Route] {
        [
            Route(.post, challengePath, isForOtherOrigins: false) { request, context in
                try await answer(parts, request, context) { _ in try await challenge(parts, request, context) }
            },
            Route(.post, path, isForOtherOrigins: false) { request, context in
                try await answer(parts, request, context) { form in try await signIn(form, parts, request, context) }
            },
        ]
    }

    /// Answers a form of our own page; an error with a sentence for the user.
    private static func answer(
        _ parts: OpenIDParts,
        _ request: Request,
        _ context: RouteContext,
        _ answer: (FormFields) async throws -> Response
    ) async throws -> Response {
        guard PageForm.isOfOwnSite(request, parts.pages.origin) else { throw PageForm.foreign }
        let form = try await context.form(request)
        do {
            return try await answer(form)
        } catch {
            let problem = Problem(answering: error)
            problem.note("a sign-in by a passkey failed", context.logger)
            let text = parts.languages.text(for: request, asked: form[AccountPages.languagesName] ?? "")
            let sentence = text.sentence(ofCode: problem.code) ?? text[SignInNotice(problem).sentence]
            let body: JSONObject = ["code": .string(problem.code), "sentence": .string(sentence)]
            return problem.page(json(body, status: problem.pageStatus))
        }
    }

    /// Makes a challenge, and the ticket that shows that this browser asked for it.
    private static func challenge(
        _ parts: OpenIDParts,
        _ request: Request,
        _ context: RouteContext
    ) async throws -> Response {
        let made = try await parts.authentication.identity
            .createPasskeyChallenge(.init(), options: parts.options(request, context))
        let options = try JSONObject(parsing: made.options.utf8)
        let secret = secret(parts, request) ?? Base64URL.encode(SecureRandom.bytes(secretByteCount))
        guard let challenge = options["challenge"]?.string,
            let setting = parts.pages.passkeyCookie.setting(secret, maxAgeSeconds: maxAgeSeconds)
        else { throw Problem.internalError(cause: NoChallenge()) }
        var response = json([
            "options": .object(options), "ticket": .string(ticket(challenge, secret)),
            "expires_in": .integer(Int64(made.expiresInSeconds)),
        ])
        response.headers[.setCookie] = setting
        return response
    }

    /// Opens a session for the browser, and names the address that goes on.
    private static func signIn(
        _ form: FormFields,
        _ parts: OpenIDParts,
        _ request: Request,
        _ context: RouteContext
    ) async throws -> Response {
        let sealed = try AuthorizeRoute.sealedRequest(form)
        let credential = form["credential"] ?? ""
        // A linking is confirmed by the user who has signed in already.
        guard LinkRequest(request: sealed) == nil, let secret = secret(parts, request),
            let challenge = challenge(of: credential),
            ConstantTime.areEqual(form["ticket"] ?? "", ticket(challenge, secret))
        else { throw ProviderForm.foreignState }
        var call = IdentityV1.SignInWithPasskeyRequest()
        call.credential = credential
        call.deviceName = DeviceName.of(userAgent: request.headers[.userAgent] ?? "")
        call.tokenStyle = .browser
        let tokens = try await parts.authentication.identity
            .signInWithPasskey(call, options: parts.options(request, context)).tokens
        let session = parts.pages.sessionCookie.setting(tokens.singleToken, maxAgeSeconds: tokens.expiresInSeconds)
        guard let session, !tokens.singleToken.isEmpty else { throw Problem.internalError(cause: NoToken()) }
        var response = json(["location": .string(AuthorizeRoute.continueAddress(sealed))])
        response.headers[values: .setCookie] = [parts.pages.passkeyCookie.clearing, session]
        return response
    }

    private static func json(_ body: JSONObject, status: HTTPResponse.Status = .ok) -> Response {
        .json(body, status: status, headers: [.cacheControl: "no-store"])
    }

    /// What the browser keeps; nil if it has no cookie, or one that isn't ours.
    private static func secret(_ parts: OpenIDParts, _ request: Request) -> String? {
        let value = parts.pages.passkeyCookie.value(request)
        return value.utf8.count == secretCharacterCount ? value : nil
    }

    /// The ticket of a challenge for the browser with a secret.
    static func ticket(_ challenge: String, _ secret: String) -> String {
        Base64URL.encode(SHA256.hash("\(ticketLabel)\0\(secret)\0\(challenge)"))
    }

    /// The challenge that a credential says it answers, as its client data has it (WebAuthn Level 3 section 5.8.1); nil for what is no
    /// credential. Whether it answers it is identity's to verify.
    private static func challenge(of credential: String) -> String? {
        guard let object = try? JSONObject(parsing: credential.utf8),
            let data = object["response"]?.object?["clientDataJSON"]?.string.flatMap({ Base64URL.decode($0) }),
            let clientData = try? JSONObject(parsing: data)
        else { return nil }
        return clientData["challenge"]?.string
    }

    private struct NoChallenge: Error {}
    private struct NoToken: Error {}
}
