import API
import HTTPJSON
import HTTPTypes
import JOSE
import RPC
import ServiceKit
import SwiftProtobuf
import Testing

@testable import GatewayService

/// `GET /` in development. Tests/EndToEnd runs the lines that it shows.
struct MethodsPageTests {
    /// The operations of a gateway that has everything.
    private static var operations: [OpenAPI.Operation] {
        get throws {
            let webSignIn = WebSignIn(
                callbackURL: "https://api.example.com/auth/apple/callback",
                appURLs: [try #require(AppURL("app://x"))],
                withoutState: [:]
            )
            let dialects = DialectSettings(
                dialects: Set(Dialect.allCases),
                supabaseServiceKey: Secret("0123456789abcdef0123456789abcdef")
            )
            return TestGateway(
                webSignIn: webSignIn,
                signInPages: SignInPages(origin: "https://api.example.com"),
                dialects: dialects,
                introspectionClients: try IntrospectionClients(Secret("app:\(String(repeating: "0", count: 64))"))
            ).gateway.endpoints.map(\.operation).filter { !OpenIDParts.hasRoute(at: $0.path) }
        }
    }

    private static func text(_ page: Response) throws -> String {
        try PageParser(String(decoding: page.body.bytes, as: UTF8.self)).text
    }

    @Test func `Every route has an example, and no example is of none`() throws {
        let operations = try Self.operations
        for operation in operations {
            let example = try #require(RouteExamples.request(operation), "\(operation.id) has no example")
            let isUser = if case .user = operation.caller { true } else { false }
            #expect(!isUser || example.needsToken || !example.headers.isEmpty, "\(operation.id) needs a token")
            if let body = example.body, example.bodyType == "application/json" {
                _ = try JSONObject(parsing: Array(body.utf8))
            }
        }
        #expect(RouteExamples.ids.subtracting(operations.map(\.id)).isEmpty)
    }

    @Test func `Every method has an example that its message can be read from`() throws {
        let messages: [any Message.Type] = [
            AppV1.SignInWithProviderRequest.self, AppV1.CreateChallengeRequest.self, AppV1.RefreshSessionRequest.self,
            AppV1.SignOutRequest.self, AppV1.SignOutEverywhereRequest.self, AppV1.ListSessionsRequest.self,
            AppV1.RenameSessionRequest.self, AppV1.EndSessionRequest.self,
            AppV1.ListProvidersRequest.self, AppV1.LinkProviderRequest.self, AppV1.UnlinkProviderRequest.self,
            AppV1.GetMeRequest.self,
            AppV1.UpdateMeRequest.self, AppV1.CheckUsernameRequest.self, AppV1.ProvePhoneRequest.self,
            AppV1.DeleteMeRequest.self, AppV1.CancelDeletionRequest.self,
            AppV1.CreateGroupRequest.self,
            AppV1.ListGroupsRequest.self, AppV1.AddMemberRequest.self, AppV1.ListMembersRequest.self,
            AppV1.AddMembersRequest.self, AppV1.GetGroupRequest.self, AppV1.UpdateGroupRequest.self,
            AppV1.DeleteGroupRequest.self, AppV1.RemoveMemberRequest.self, AppV1.LeaveGroupRequest.self,
            AppV1.SetMemberRoleRequest.self, AppV1.HandOverGroupRequest.self,
            AppV1.ListMyInvitationsRequest.self, AppV1.AcceptInvitationRequest.self,
            AppV1.DeclineInvitationRequest.self, AppV1.ConfirmMemberRequest.self, AppV1.ListPendingRequest.self,
            AppV1.CreateGroupLinkRequest.self, AppV1.ListGroupLinksRequest.self, AppV1.RevokeGroupLinkRequest.self,
            AppV1.PreviewGroupLinkRequest.self, AppV1.JoinByLinkRequest.self, AppV1.BlockInviterRequest.self,
            AppV1.UnblockInviterRequest.self, AppV1.ListBlockedInvitersRequest.self,
            AppV1.GetKeySetRequest.self,
        ]
        #expect(MethodExample.all.count == messages.count)
        for (example, message) in zip(MethodExample.all, messages) {
            _ = try message.init(jsonString: example.call.body ?? "{}")
        }
    }

    @Test func `The lines call the gateway as it was called`() throws {
        let page = MethodsPage(try Self.operations, address: "127.0.0.1:8080")
        let text = try Self.text(page.response(authority: "localhost:9090", isEncrypted: false))
        #expect(
            text.contains(
                #"curl -sS "http://localhost:9090/me" -H "Authorization: Bearer $ACCESS""#
            )
        )
        let call =
            #"curl -sS "https://[::1]:1/vestibule.app.v1.AccountService/GetMe" -H "Authorization: Bearer $ACCESS""#
        let encrypted = try Self.text(page.response(authority: "[::1]:1", isEncrypted: true))
        #expect(encrypted.contains(call + #" -H "Content-Type: application/json" -d '{}'"#))
    }

    @Test(arguments: [
        "", "$(touch /tmp/x)", "`id`", "a;b", "a b", "\"><script>", "a'b", "a&b", String(repeating: "a", count: 256),
    ])
    func `A name that means something to a shell or a page is not shown`(authority: String) throws {
        let page = MethodsPage(try Self.operations, address: "127.0.0.1:8080")
        let text = try Self.text(page.response(authority: authority, isEncrypted: false))
        #expect(text.contains(#"curl -sS "http://127.0.0.1:8080/me""#))
        #expect(authority.isEmpty || !text.contains("http://\(authority)/"))
    }

    @Test func `Nothing may be loaded, run, framed or sent`() throws {
        let page = MethodsPage(try Self.operations, address: "127.0.0.1:8080")
        let response = page.response(authority: "a", isEncrypted: false)
        #expect(
            response.headers[.contentSecurityPolicy]
                == "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )
        let parsed = try PageParser(String(decoding: response.body.bytes, as: UTF8.self))
        #expect(parsed.scripts.isEmpty)
        let attributes = Set(parsed.elements.flatMap(\.attributes.keys))
        #expect(attributes.isSubset(of: ["lang", "charset", "name", "content", "href"]))
    }

    @Test func `There is no page unless it is configured`() async throws {
        #expect(try await TestGateway().send(.get, "/").status == 404)
        let keys = GatewayServer.configurationKeys
        for (value, address) in [("true", "127.0.0.1:8080"), ("false", nil)] {
            let configuration = try Configuration.testing(
                keys: keys,
                program: GatewayServer.programName,
                ["VESTIBULE_GATEWAY_LISTEN": "0.0.0.0:8080", "VESTIBULE_GATEWAY_METHODS_PAGE": value]
            )
            #expect(try GatewaySettings(configuration).methodsPageAddress == address)
        }
    }
}
