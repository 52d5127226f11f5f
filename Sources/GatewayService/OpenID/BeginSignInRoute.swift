import API
import HTTPJSON
import HTTPTypes
import JOSE
import Logging
import WebPages

/// `GET /sign-in/{provider}`: sends a browser to the page of a provider, with a cookie that its way back needs.
enum BeginSignInRoute {
    static let pathPrefix = "/sign-in/"
    private static let providerBytesMax = 32

    static let operation = OpenAPI.Operation(
        .get,
        "\(pathPrefix){provider}",
        id: "beginSignIn",
        tag: .auth,
        summary: "Sends a browser to a provider's page",
        description: "The sign-in page leads here; clients don't.",
        caller: .anyone,
        parameters: [.signInProvider, .sealedRequest],
        answers: [303: .init("To the provider's page, or back to the sign-in page if that can't be.")],
        problems: [.notFound],
        answersPages: true
    )

    static func endpoint(_ parts: OpenIDParts) -> Endpoint {
        Endpoint(operation, isForOtherOrigins: false) { request, context in
            let sealed = try AuthorizeRoute.sealedRequest(try FormFields(queryOf: request))
            // A linking begins by a form of the account's page, never by a link.
            guard LinkRequest(request: sealed) == nil else {
                throw Problem(.badRequest, code: "REQUEST_INVALID", detail: "The address must have one request.")
            }
            // A link of another site leads to our page, where the user presses a button: nobody else signs a browser in.
            if let goal = ReturnPath(request: sealed), PageForm.isOfAnotherSite(request) {
                return Response(status: .seeOther, headers: [.location: SignInRoute.address(goal)])
            }
            return try await begin(try provider(context), for: sealed, parts, request, context)
        }
    }

    /// Sends the browser to a provider.
    ///
    /// - Parameter sealed: where it goes on afterwards: what ``AuthorizeRoute/continueAddress(_:_:)`` takes.
    static func begin(
        _ provider: String,
        for sealed: String,
        _ parts: OpenIDParts,
        _ request: Request,
        _ context: RouteContext
    ) async throws -> Response {
        let verifier = SignInCookie.makeVerifier()
        var call = IdentityV1.BeginWebSignInRequest()
        call.provider = provider
        call.codeChallenge = Base64URL.encode(SHA256.hash(verifier))
        call.redirectUri = callbackURL(provider, parts.pages)
        call.authorizationRequest = sealed
        call.demandsNewSignIn = ReturnPath.demandsNewSignIn(sealed)
        call.choosesAccount = LinkRequest(request: sealed) != nil
        let begun: IdentityV1.BeginWebSignInResponse
        do {
            begun = try await parts.authentication.identity
                .beginWebSignIn(call, options: parts.options(request, context))
        } catch {
            let problem = Problem(answering: error)
            problem.note("a sign-in could not begin", context.logger)
            let address = AuthorizeRoute.continueAddress(sealed, SignInNotice(problem), provider: provider)
            return Response(status: .seeOther, headers: [.location: address])
        }
        let cookie = SignInCookie(
            state: begun.state,
            verifier: verifier,
            request: sealed,
            provider: provider
        )
        let setting = cookie.value.flatMap {
            parts.pages.signInCookie.setting($0, maxAgeSeconds: SignInCookie.maxAgeSeconds)
        }
        guard let setting else {
            throw Problem(.badRequest, code: "REQUEST_INVALID", detail: "The request is too long for a cookie.")
        }
        return Response(status: .seeOther, headers: [.location: begun.authorizationURL, .setCookie: setting])
    }

    /// The path and query of a provider's button.
    static func address(_ provider: String, request: String) -> String {
        "\(pathPrefix)\(FormFields.encode(provider))?request=\(FormFields.encode(request))"
    }

    /// Where a provider posts to.
    static func callbackURL(_ provider: String, _ pages: SignInPages) -> String {
        pages.origin + (pages.hasCognitoPaths ? Cognito.providerResponsePath : "\(pathPrefix)\(provider)/callback")
    }

    /// The provider of a path.
    ///
    /// - Throws: 404 for what can't be the name of one.
    static func provider(_ context: RouteContext) throws(Problem) -> String {
        let provider = try context.parameters.require("provider")
        let isName = provider.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"),
                UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard isName, 1...providerBytesMax ~= provider.utf8.count else {
            throw Problem(.notFound, code: "NOT_FOUND", detail: "There is no such provider.")
        }
        return provider
    }
}

extension OpenAPI.Parameter {
    static let signInProvider = Self(
        component: "signInProvider",
        name: "provider",
        place: .path,
        schema: .text(pattern: "^[a-z0-9_-]{1,32}$"),
        description: "A configured provider, such as apple."
    )
}
