import API
import HTTPJSON
import HTTPTypes
import JOSE

/// `GET /auth/apple/start`: sends a browser to Apple's page, with a state that comes back in the form and in a cookie.
enum BeginAppleByWebRoute {
    static let operation = OpenAPI.Operation(
        .get,
        "/auth/apple/start",
        id: "beginAppleByWeb",
        tag: .auth,
        summary: "Sends a browser to Apple's page",
        description:
            "For a browser to visit, not for fetch. The caller that redeems the tickets needs the verifier of code_challenge.",
        caller: .anyone,
        parameters: [.codeChallenge, .appURL, .clientID],
        answers: [303: .init("To Apple's page. The state is in a cookie.")],
        problems: [.notFound, .fieldsAtFault]
    )

    static func endpoint(_ authentication: Authentication, _ webSignIn: WebSignIn) -> Endpoint {
        Endpoint(operation, isForOtherOrigins: false) { request, context in
            var query = try Query(request)
            let challenge = query.challenge()
            let appURL = query.appURL(webSignIn)
            var call = IdentityV1.BeginWebSignInRequest()
            call.provider = "apple"
            call.clientID = query.fields["client_id"] ?? ""
            call.codeChallenge = challenge
            call.redirectUri = webSignIn.callbackURL
            call.appURL = appURL?.text ?? ""
            try query.finish()
            let options = authentication.callOptionsWithAddress(.route(request, context))
            let begun = try await authentication.identity.beginWebSignIn(call, options: options)
            let cookie = WebSignInCookie(state: begun.state, appURL: call.appURL)
            return Response(
                status: .seeOther,
                headers: [.location: begun.authorizationURL, .setCookie: cookie.setting]
            )
        }
    }

    /// What the URL's query says, and what is wrong with it.
    private struct Query {
        let fields: FormFields
        private var faults: [Problem.Field] = []

        init(_ request: Request) throws(Problem) {
            do {
                fields = try FormFields(parsing: (request.uri.query ?? "").utf8)
            } catch {
                throw Self.refused([])
            }
            for name in Self.names where fields.fields.count(where: { $0.name == name }) > 1 {
                faults.append(.init(name, code: "REPEATED", detail: "This stands in the query more than once."))
            }
        }

        private static let names = ["code_challenge", "code_challenge_method", "app_url", "client_id"]

        /// The S256 challenge: 32 bytes in base64url (RFC 7636 section 4.2).
        mutating func challenge() -> String {
            let challenge = fields["code_challenge"] ?? ""
            if challenge.isEmpty {
                faults.append(.init("code_challenge", code: "REQUIRED", detail: "A PKCE challenge is required."))
            } else if challenge.utf8.count != 43 || !challenge.utf8.allSatisfy(Self.isBase64URL) {
                faults.append(
                    .init("code_challenge", code: "MALFORMED", detail: "This must be the base64url of a SHA-256 hash.")
                )
            }
            if let method = fields["code_challenge_method"], method != "S256" {
                faults.append(.init("code_challenge_method", code: "MALFORMED", detail: "Only S256 is taken."))
            }
            return challenge
        }

        mutating func appURL(_ webSignIn: WebSignIn) -> AppURL? {
            let url = webSignIn.appURL(fields["app_url"])
            if url == nil {
                faults.append(
                    .init("app_url", code: "NOT_ALLOWED", detail: "This is none of the app URLs that are configured.")
                )
            }
            return url
        }

        func finish() throws(Problem) {
            guard faults.isEmpty else { throw Self.refused(faults) }
        }

        private static func refused(_ fields: [Problem.Field]) -> Problem {
            Problem(
                .badRequest,
                code: "REQUEST_INVALID",
                detail: "The request does not have the form that this path expects.",
                fields: fields
            )
        }

        private static func isBase64URL(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
    }
}

extension OpenAPI.Parameter {
    fileprivate static let codeChallenge = Self(
        component: "codeChallenge",
        name: "code_challenge",
        place: .query,
        schema: .text(pattern: "^[A-Za-z0-9_-]{43}$"),
        description: "PKCE, S256 (RFC 7636 section 4.2).",
        example: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
        isRequired: true
    )
    fileprivate static let appURL = Self(
        component: "appURL",
        name: "app_url",
        place: .query,
        schema: .text(maxLength: 512),
        description:
            "Where the browser is sent at the end: one that is configured, perhaps with a query. The default is "
            + "the first one configured."
    )
    fileprivate static let clientID = Self(
        component: "clientID",
        name: "client_id",
        place: .query,
        schema: .text(maxLength: 255),
        description: "The Services ID; needed if there are several."
    )
}
