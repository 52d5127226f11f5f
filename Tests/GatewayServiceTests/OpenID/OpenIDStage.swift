import API
import APIDoubles
import HTTPClients
import HTTPJSON
import HTTPTypes
import JOSE
import RPC
import SwiftProtobuf
import Synchronization
import Testing

@testable import GatewayService

/// A gateway with pages that sign in, a browser without scripts, and what identity was asked.
struct OpenIDStage {
    static let session = "__Host-vestibule-session=browser-token"
    static let sealed = "var1_sealed-request"

    private(set) var gateway: TestGateway
    let seen = Seen()

    init(
        origin: String = "https://id.example.com",
        supportURL: String? = nil,
        rateLimit: RateLimit.Policy = .init(),
        dialects: DialectSettings = .init()
    ) throws {
        var pages = try #require(SignInPages(origin: origin))
        pages.supportURL = supportURL
        pages.hasCognitoPaths = dialects.dialects.contains(.cognito)
        gateway = TestGateway(rateLimit: rateLimit, signInPages: pages, dialects: dialects)
    }

    /// The requests that identity got.
    final class Seen: Sendable {
        let authorized = Mutex<[IdentityV1.AuthorizeRequest]>([])
        let begun = Mutex<[IdentityV1.BeginWebSignInRequest]>([])
        let finished = Mutex<[IdentityV1.FinishWebSignInRequest]>([])
        let signedIn = Mutex<[IdentityV1.SignInRequest]>([])
        let ended = Mutex<[IdentityV1.EndBrowserSessionRequest]>([])
    }

    struct Answer {
        let status: Int
        let headers: HTTPFields
        let text: String

        var location: String? { headers[.location] }
        var cookies: [String] { headers[values: .setCookie] }
        var policy: String { headers[.contentSecurityPolicy] ?? "" }
        var json: JSONObject {
            get throws { try JSONObject(parsing: Array(text.utf8), limits: JSONLimits(bytesMax: 1 << 20)) }
        }
        var page: PageParser {
            get throws { try PageParser(text) }
        }
        /// The part of a cookie that a browser sends back.
        func cookie(_ name: String) -> String? {
            cookies.first { $0.hasPrefix("\(name)=") }.map { String($0.prefix { $0 != ";" }) }
        }
    }

    func get(_ uri: String, cookie: String? = nil, headers: HTTPFields = [:]) async throws -> Answer {
        try await send(.get, uri, cookie: cookie, headers: headers)
    }

    func post(_ uri: String, _ form: String, cookie: String? = nil, headers: HTTPFields = [:]) async throws -> Answer {
        var headers = headers
        headers[.contentType] = "application/x-www-form-urlencoded"
        return try await send(.post, uri, form, cookie: cookie, headers: headers)
    }

    func send(
        _ method: HTTPRequest.Method,
        _ uri: String,
        _ body: String = "",
        cookie: String? = nil,
        headers: HTTPFields = [:],
        from address: String = "in-process"
    ) async throws -> Answer {
        var headers = headers
        headers[.cookie] = cookie
        let response = try await HandlerClient(gateway.handler, address: address)
            .send(method, uri, headers: headers, body: Array(body.utf8))
        return Answer(status: response.status.code, headers: response.headers, text: response.text)
    }

    /// Lets pages of an origin call.
    mutating func allow(_ origin: String) {
        gateway.crossOrigin = CrossOrigin(origins: [origin], requestFields: GatewaySettings.crossOriginFields)
    }

    /// Sets what the authorization endpoint answers.
    func authorize(_ change: @escaping @Sendable (inout IdentityV1.AuthorizeResponse) -> Void) {
        let seen = seen
        gateway.stubs.oauth.set { answers in
            answers.authorize = { request, _ in
                seen.authorized.withLock { $0.append(request) }
                return .with(change)
            }
        }
    }

    /// Has the user sign in.
    func showSignIn(client: String = "Orders", providers: [String] = ["apple", "google"], provider: String = "") {
        authorize {
            ($0.signIn.request, $0.signIn.clientName) = (Self.sealed, client)
            ($0.signIn.providers, $0.signIn.provider) = (providers, provider)
        }
    }

    /// Makes identity accept sign-ins by pages.
    func acceptSignIns(state: String = "vws1_state") {
        let seen = seen
        gateway.stubs.identity.set { answers in
            answers.beginWebSignIn = { request, _ in
                seen.begun.withLock { $0.append(request) }
                return .with { ($0.state, $0.authorizationURL) = (state, "https://provider.example/authorize?state=s") }
            }
            answers.finishWebSignIn = { request, _ in
                seen.finished.withLock { $0.append(request) }
                return .with {
                    ($0.idTokenTicket, $0.codeTicket) = ("vit1_ticket", "vct1_ticket")
                    $0.email = "<maria@example.com>"
                }
            }
            answers.signIn = { request, _ in
                seen.signedIn.withLock { $0.append(request) }
                return .with { ($0.tokens.singleToken, $0.tokens.expiresInSeconds) = ("new.browser-token", 86_400) }
            }
        }
    }
}
