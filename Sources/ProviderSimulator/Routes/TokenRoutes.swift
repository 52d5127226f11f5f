import FoundationEssentials
import HTTPJSON
import HTTPTypes
import JOSE

/// The endpoints that servers call: to exchange codes, revoke tokens and check access tokens.
enum TokenRoutes {
    static func all(_ store: SimulatorStore) -> [Route] {
        var routes: [Route] = [
            .of(.apple, "token", store, .post, "/apple/auth/token") { request, context in
                try await answer { .json(try await store.appleTokens(form(request, context)), headers: unstored) }
            },
            .of(.apple, "revoke", store, .post, "/apple/auth/revoke") { request, context in
                try await answer {
                    try await store.appleRevoke(form(request, context))
                    return Response(status: .ok)
                }
            },
            .of(.apple, "usermigrationinfo", store, .post, "/apple/auth/usermigrationinfo") { request, context in
                try await answer {
                    let body = try await store.userMigrationInfo(form(request, context), token: bearer(request))
                    return .json(body, headers: unstored)
                }
            },
            .of(.google, "token", store, .post, "/google/token") { request, context in
                try await answer {
                    let body = try await store.googleTokens(form(request, context), basic: basic(request))
                    return .json(body, headers: unstored)
                }
            },
        ]
        routes.append(
            .of(.google, "revoke", store, .post, "/google/revoke") { request, context in
                try await answer {
                    try await store.googleRevoke(parameters(request, context)["token"])
                    return .json([:])
                }
            }
        )
        for method in [HTTPRequest.Method.get, .post] {
            routes += [
                .of(.google, "tokeninfo", store, method, "/google/tokeninfo") { request, context in
                    try await answer {
                        .json(try await store.googleTokenInfo(parameters(request, context)["access_token"]))
                    }
                },
                .of(.google, "userinfo", store, method, "/google/oauth2/v3/userinfo") { request, context in
                    try await answer {
                        if let token = bearer(request) { return .json(try await store.googleUserInfo(token)) }
                        return .json(try await store.googleUserInfo(parameters(request, context)["access_token"]))
                    }
                },
            ]
        }
        // The real paths may contain an API version, such as v19.0.
        for prefix in ["/facebook", "/facebook/{version}"] {
            routes += [
                .of(.facebook, "debug_token", store, .get, "\(prefix)/debug_token") { request, context in
                    try await answer {
                        let query = try query(request)
                        let appToken = query["access_token"] ?? bearer(request)
                        return .json(try await store.facebookDebugToken(query["input_token"], appToken: appToken))
                    }
                },
                .of(.facebook, "me", store, .get, "\(prefix)/me") { request, context in
                    try await answer {
                        let query = try query(request)
                        let body = try await store.facebookMe(
                            query["access_token"] ?? bearer(request),
                            fields: query["fields"],
                            proof: query["appsecret_proof"]
                        )
                        return .json(body)
                    }
                },
            ]
        }
        return routes
    }

    /// The fields of a URL's query.
    static func query(_ request: Request) throws(OAuthError) -> FormFields {
        do {
            return try FormFields(parsing: (request.uri.query ?? "").utf8)
        } catch {
            throw .invalidRequest
        }
    }

    private static let unstored: HTTPFields = [.cacheControl: "no-store", .pragma: "no-cache"]

    /// Returns errors in the provider's own format.
    private static func answer(_ work: () async throws -> Response) async throws -> Response {
        do {
            return try await work()
        } catch let error as OAuthError {
            return error.response
        } catch let error as FacebookError {
            return error.response
        }
    }

    private static func form(_ request: Request, _ context: RouteContext) async throws -> FormFields {
        do {
            return try await context.form(request)
        } catch let problem as Problem where [400, 415].contains(problem.status.code) {
            throw OAuthError.invalidRequest
        }
    }

    /// The query's fields, or those of a posted form.
    private static func parameters(_ request: Request, _ context: RouteContext) async throws -> FormFields {
        let query = try query(request)
        return request.method == .post && query.fields.isEmpty ? try await form(request, context) : query
    }

    private static func bearer(_ request: Request) -> String? { credentials(request, scheme: "bearer") }

    /// The client id and secret of HTTP Basic (RFC 6749 section 2.3.1).
    private static func basic(_ request: Request) -> (clientID: String, secret: String)? {
        guard let text = credentials(request, scheme: "basic"), let data = Data(base64Encoded: text),
            let pair = String(validating: data, as: UTF8.self)
        else { return nil }
        let parts = pair.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let clientID = decoded(parts[0]), let secret = decoded(parts[1]) else { return nil }
        return (clientID, secret)
    }

    /// Decodes one form-encoded text.
    private static func decoded(_ text: Substring) -> String? {
        try? FormFields(parsing: "v=\(text)".utf8)["v"]
    }

    private static func credentials(_ request: Request, scheme: String) -> String? {
        guard let parts = request.headers[.authorization]?.split(separator: " ", maxSplits: 1), parts.count == 2,
            parts[0].lowercased() == scheme
        else { return nil }
        return String(parts[1])
    }
}

extension HTTPField.Name {
    /// `Pragma`, which the providers still send.
    fileprivate static let pragma = HTTPField.Name("Pragma")!
}
