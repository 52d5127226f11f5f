import API
import APIDoubles
import HTTPJSON
import HTTPTypes
import JOSE
import RPC
import ServiceKit
import SwiftProtobuf
import Synchronization
import Testing

@testable import GatewayService

/// The settings of the pages, the metadata, and what pages load.
struct SignInPagesTests {
    private static func settings(_ values: [String: String]) throws -> GatewaySettings {
        let configuration = try Configuration.testing(
            keys: GatewayServer.configurationKeys,
            program: GatewayServer.programName,
            values
        )
        return try GatewaySettings(configuration)
    }

    @Test func `Pages are off by default, and need a public URL`() throws {
        let key = "VESTIBULE_GATEWAY_SIGN_IN_PAGES"
        #expect(try Self.settings([:]).signInPages == nil)
        #expect(try Self.settings(["VESTIBULE_GATEWAY_PUBLIC_URL": "https://id.example.com"]).signInPages == nil)
        let good = [
            "https://id.example.com/", "https://id.example.com:8443", "http://127.0.0.1:8080", "http://[::1]:1",
        ]
        for url in good {
            let pages = try Self.settings([key: "true", "VESTIBULE_GATEWAY_PUBLIC_URL": url]).signInPages
            #expect(pages?.isClear == url.hasPrefix("http:") && pages?.origin.hasSuffix("/") == false)
        }
        for url in [nil, "https://id.example.com/x", "http://id.example.com", "http://localhost.example.com"] {
            var values = [key: "true"]
            values["VESTIBULE_GATEWAY_PUBLIC_URL"] = url
            let error = #expect(throws: ConfigurationErrors.self) { try Self.settings(values) }
            #expect(error?.faults.map(\.key) == ["VESTIBULE_GATEWAY_PUBLIC_URL"])
        }
    }

    @Test func `Without pages none of their routes exists`() async throws {
        let gateway = TestGateway()
        for uri in [
            "/.well-known/openid-configuration", "/oauth2/authorize", "/oauth2/userinfo", "/oauth2/logout",
            "/sign-in/apple?request=r", "/pages/style.css", "/pages/page.js",
        ] {
            #expect(try await gateway.send(.get, uri).code == "ROUTE_NOT_FOUND", "\(uri)")
        }
    }

    @Test func `The metadata is one document at two paths`() async throws {
        let stage = try OpenIDStage()
        stage.gateway.stubs.identity.set { answers in
            answers.getJWKS = { _, _ in
                .with {
                    $0.jwksJson = #"{"keys":[{"alg":"ES256"},{"alg":"ES256"},{"alg":"RS256"},{}]}"#
                    ($0.maxAgeSeconds, $0.issuer) = (600, "https://id.example.com")
                }
            }
        }
        let answer = try await stage.get("/.well-known/openid-configuration")
        let metadata = try answer.json
        #expect(answer.status == 200 && answer.headers[.cacheControl] == "public, max-age=600")
        #expect(try await stage.get("/.well-known/oauth-authorization-server").json == metadata)
        let base = "https://id.example.com"
        let endpoints = [
            "issuer": base, "authorization_endpoint": "\(base)/oauth2/authorize",
            "token_endpoint": "\(base)/oauth2/token",
            "userinfo_endpoint": "\(base)/oauth2/userinfo", "jwks_uri": "\(base)/.well-known/jwks.json",
            "revocation_endpoint": "\(base)/oauth2/revoke", "end_session_endpoint": "\(base)/oauth2/logout",
            "pushed_authorization_request_endpoint": "\(base)/oauth2/par",
        ]
        let paths = stage.gateway.gateway.endpoints.map(\.operation.path)
        for (name, url) in endpoints {
            #expect(metadata[name]?.string == url)
            #expect(name == "issuer" || paths.contains(String(url.dropFirst(base.count))), "\(name) has a route")
        }
        #expect(metadata["id_token_signing_alg_values_supported"] == ["ES256", "RS256"])
        #expect(metadata["response_types_supported"] == ["code"])
        #expect(metadata["response_modes_supported"] == ["query", "form_post"])
        #expect(metadata["grant_types_supported"] == ["authorization_code", "refresh_token"])
        #expect(metadata["code_challenge_methods_supported"] == ["S256"])
        for name in ["token_endpoint_auth_methods_supported", "revocation_endpoint_auth_methods_supported"] {
            #expect(metadata[name] == ["client_secret_basic", "client_secret_post", "private_key_jwt", "none"])
        }
        #expect(metadata["authorization_response_iss_parameter_supported"] == true)
        for name in [
            "request_parameter_supported", "request_uri_parameter_supported", "require_request_uri_registration",
            "claims_parameter_supported",
        ] {
            #expect(metadata[name] == false)
        }
        #expect(metadata["backchannel_logout_supported"] == true)
        #expect(metadata["introspection_endpoint"] == nil)
    }

    @Test func `Files of pages are kept by their hash`() async throws {
        let stage = try OpenIDStage()
        stage.showSignIn()
        let page = try await stage.get("/oauth2/authorize").page
        let addresses = [try #require(page["link"]?["href"]), try #require(page["script"]?["src"])]
        for (address, type) in zip(addresses, ["text/css", "text/javascript"]) {
            #expect(address.contains("?v="))
            let current = try await stage.get(address)
            #expect(current.status == 200 && current.headers[.cacheControl] == "public, max-age=31536000, immutable")
            #expect(current.headers[.contentType] == "\(type); charset=utf-8")
            #expect(current.headers[.xContentTypeOptions] == "nosniff" && !current.text.isEmpty)
            let path = String(address.prefix { $0 != "?" })
            for other in [path, "\(path)?v=old"] {
                let answer = try await stage.get(other)
                #expect(answer.text == current.text && answer.headers[.cacheControl] == "no-cache")
            }
        }
        #expect(page["script"]?["type"] == "module")
    }

    /// Neither inline scripts nor styles, which the policy would refuse.
    @Test func `Pages have nothing inline`() async throws {
        let stage = try OpenIDStage()
        stage.showSignIn()
        let continued = "/oauth2/authorize/continue"
        for uri in ["/oauth2/authorize", continued, "\(continued)?request=r&notice=later"] {
            let page = try await stage.get(uri).page
            #expect(page.scripts == [""])
            #expect(
                page.elements.allSatisfy { element in
                    !element.attributes.keys.contains { $0 == "style" || $0.hasPrefix("on") }
                }
            )
        }
    }

    /// The cookie opens pages only.
    @Test func `The session's cookie alone is 401 at every route that needs a user`() async throws {
        let stage = try OpenIDStage(dialects: DialectSettings(dialects: Set(Dialect.allCases)))
        var count = 0
        for operation in stage.gateway.gateway.endpoints.map(\.operation) {
            guard case .user = operation.caller else { continue }
            count += 1
            let uri = operation.path.replacing(#/\{[a-z_]+\}/#, with: "x")
            let answer = try await stage.send(operation.method, uri, cookie: OpenIDStage.session)
            #expect(answer.status == 401, "\(operation.method) \(operation.path)")
        }
        #expect(count > 20)
        let refresh = try await stage.send(
            .post,
            "/auth/refresh",
            "{}",
            cookie: OpenIDStage.session,
            headers: [.contentType: "application/json"]
        )
        #expect(refresh.status == 422 || refresh.status == 400 || refresh.status == 401)
        #expect(stage.gateway.stubs.calls.isEmpty)
    }

    @Test func `Pages take no bearer tokens`() async throws {
        let stage = try OpenIDStage()
        stage.showSignIn()
        let headers: HTTPFields = [.authorization: "Bearer \(StubServices.accessToken)"]
        #expect(try await stage.get("/oauth2/authorize", headers: headers).status == 200)
        #expect(stage.seen.authorized.withLock { $0.map(\.browserToken) } == [""])
    }

    @Test func `Every route is described`() throws {
        let operations = try OpenIDStage().gateway.gateway.endpoints.map(\.operation)
        let document = OpenAPI.document(of: operations)
        #expect(Set(operations.map(\.id)).count == operations.count)
        let responses = document["components"]?.object?["responses"]?.object
        #expect(responses?["OpenIDRefused"] != nil && responses?["UserInfo"] != nil)
        for operation in operations {
            let variables = operation.path.matches(of: #/\{([a-z_]+)\}/#).map { String($0.1) }
            #expect(operation.parameters.filter { $0.place == .path }.map(\.name) == variables, "\(operation.id)")
        }
    }

    @Test(arguments: ["https://other.example", "https://app.example"])
    func `Pages of other origins may call what clients call, and visit nothing`(origin: String) async throws {
        var stage = try OpenIDStage()
        stage.allow("https://app.example")
        for (uri, isOpen) in [
            ("/oauth2/token", true), ("/oauth2/userinfo", true), ("/oauth2/par", true), ("/oauth2/authorize", false),
            ("/oauth2/logout", false), ("/sign-in/apple/callback", false),
        ] {
            let answer = try await stage.post(uri, "a=b", headers: [.origin: origin])
            let allowed = answer.headers[.accessControlAllowOrigin]
            #expect((allowed == origin) == (isOpen && origin == "https://app.example"), "\(uri)")
        }
    }
}
