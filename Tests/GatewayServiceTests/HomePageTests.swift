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
struct HomePageTests {
    /// A gateway that has everything.
    private static var gateway: Gateway {
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
                associations: AssociationTests.all,
                introspectionClients: try IntrospectionClients(Secret("app:\(String(repeating: "0", count: 64))"))
            ).gateway
        }
    }

    /// Its operations.
    private static var operations: [OpenAPI.Operation] {
        get throws { try gateway.endpoints.map(\.operation).filter { !OpenIDParts.hasRoute(at: $0.path) } }
    }

    private static func page(simulator: String? = "http://127.0.0.1:7080") throws -> HomePage {
        HomePage(
            try operations,
            routes: try gateway.appRoutes,
            settings: DevelopmentHome(address: "127.0.0.1:8080", simulator: simulator),
            pages: SignInPages(origin: "http://127.0.0.1:8080")
        )
    }

    private static func parsed(_ page: Response) throws -> PageParser {
        try PageParser(String(decoding: page.body.bytes, as: UTF8.self))
    }

    private static func text(_ page: Response) throws -> String {
        try parsed(page).text
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
            AppV1.SignInWithProviderRequest.self, AppV1.CreateChallengeRequest.self,
            AppV1.CreateGuestChallengeRequest.self, AppV1.SignInAsGuestRequest.self, AppV1.AbsorbGuestRequest.self,
            AppV1.RefreshSessionRequest.self,
            AppV1.SignOutRequest.self, AppV1.SignOutEverywhereRequest.self, AppV1.ListSessionsRequest.self,
            AppV1.RenameSessionRequest.self, AppV1.EndSessionRequest.self,
            AppV1.ListProvidersRequest.self, AppV1.LinkProviderRequest.self, AppV1.UnlinkProviderRequest.self,
            AppV1.CreatePasskeyChallengeRequest.self, AppV1.SignInWithPasskeyRequest.self,
            AppV1.CreatePasskeyRegistrationRequest.self, AppV1.AddPasskeyRequest.self,
            AppV1.ListPasskeysRequest.self, AppV1.RenamePasskeyRequest.self, AppV1.RemovePasskeyRequest.self,
            AppV1.CreateRecoveryCodesRequest.self, AppV1.GetRecoveryCodesRequest.self,
            AppV1.CreateRecoveryChallengeRequest.self, AppV1.RecoverAccountRequest.self,
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
        let page = try Self.page()
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
        let page = try Self.page()
        let text = try Self.text(page.response(authority: authority, isEncrypted: false))
        #expect(text.contains(#"curl -sS "http://127.0.0.1:8080/me""#))
        #expect(authority.isEmpty || !text.contains("http://\(authority)/"))
    }

    @Test func `It loads files of the gateway, calls the gateway and the simulator, and is not framed`() throws {
        let response = try Self.page().response(authority: "a", isEncrypted: false)
        #expect(
            response.headers[.contentSecurityPolicy]
                == "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'; "
                + "script-src 'self'; connect-src 'self' http://127.0.0.1:7080; form-action 'none'"
        )
        #expect(response.headers[.cacheControl] == "no-store")
        #expect(response.headers[.referrerPolicy] == "no-referrer")
        let parsed = try Self.parsed(response)
        #expect(parsed.scripts == [""])
        let attributes = Set(parsed.elements.flatMap(\.attributes.keys))
        #expect(attributes.isDisjoint(with: ["style", "onclick", "onload", "http-equiv"]))
        let loaded = parsed.elements.compactMap {
            $0.attributes["src"] ?? ($0.name == "link" ? $0.attributes["href"] : nil)
        }
        #expect(loaded.allSatisfy { $0.hasPrefix("/pages/") && $0.contains("?v=") })
    }

    @Test func `Without a simulator it calls the gateway alone`() throws {
        let response = try Self.page(simulator: nil).response(authority: "a", isEncrypted: false)
        #expect(response.headers[.contentSecurityPolicy]?.contains("connect-src 'self';") == true)
        #expect(try Self.parsed(response)["main"]?["data-simulator"] == nil)
    }

    @Test func `Every method has a form whose fields are those of its message`() throws {
        let page = try Self.parsed(try Self.page().response(authority: "a", isEncrypted: false))
        let forms = Set(page.elements.filter { $0.name == "form" }.compactMap { $0.attributes["id"] })
        for example in MethodExample.all {
            let id = example.described.operationID
            #expect(forms.contains("form-\(id)"), "\(id) has no form")
            for field in example.described.request.fields where !field.isHidden {
                let prefix = "\(id)-\(field.name)"
                let other = "\(id)-\(field.protoName)"
                #expect(
                    page.elements.contains { element in
                        guard element.attributes["data-in"] != nil, let id = element.attributes["id"] else {
                            return false
                        }
                        return id == prefix || id == other || id.hasPrefix("\(prefix)-")
                    },
                    "\(id) lacks \(field.name)"
                )
            }
        }
        let ids = page.elements.compactMap { $0.attributes["id"] }
        #expect(Set(ids).count == ids.count, "an id is there twice")
    }

    @Test func `A form says what its field is, and where its value comes from`() throws {
        let page = try Self.parsed(try Self.page().response(authority: "a", isEncrypted: false))
        func attributes(_ id: String) throws -> [String: String] {
            try #require(page.elements.first { $0.attributes["id"] == id }?.attributes, "\(id)")
        }
        let form = try attributes("form-addMember")
        #expect(form["data-method"] == "POST" && form["data-path"] == "/groups/{group_id}/members")
        #expect(form["data-connect"] == "/vestibule.app.v1.GroupService/AddMember")
        #expect(form["data-sets"] == "MEMBER=id" && form["data-token"] == "")
        let group = try attributes("addMember-group_id")
        #expect(group["data-in"] == "path" && group["data-variable"] == "GROUP" && group["required"] == "")
        let number = try attributes("addMember-phone_number")
        #expect(number["value"] == "+639171234567" && number["maxlength"] == "128" && number["data-in"] == "body")
        let size = try attributes("listGroups-page_size")
        #expect(size["type"] == "number" && size["min"] == "1" && size["max"] == "100" && size["required"] == nil)
        #expect(try attributes("createGroup-idempotency_key")["data-header"] == "Idempotency-Key")
        #expect(try attributes("confirmMember-user_id")["data-connect"] == "confirmed_user_id")
        #expect(try attributes("addMembers-members-0-phone_number")["name"] == "members.0.phone_number")
        #expect(try attributes("linkProvider-credentials-id_token")["data-variable"] == "GOOGLE_TOKEN")
        #expect(try attributes("form-watchGroups")["data-stream"] == "")
    }

    @Test func `Every method and every route of the gateway's own has a task`() throws {
        let methods = Set(MethodExample.all.map(\.described.operationID))
        let ids = Set(try Self.operations.map(\.id)).union(methods)
        let dialects = ids.filter { id in ["singleToken", "wordPress", "supabase"].contains { id.hasPrefix($0) } }
        #expect(Set(HomeTask.tasks.keys) == ids.subtracting(dialects))
        #expect(Set(ShellVariables.sources.keys).isSubset(of: methods))
    }

    @Test func `Every variable of a line is explained`() throws {
        let page = try Self.parsed(try Self.page().response(authority: "a", isEncrypted: false))
        let explained = Set(ShellVariables.all.flatMap { $0.names.split(separator: ", ").map(String.init) })
        let used = page.text.matches(of: /\$([A-Z_]+)/).map { String($0.1) }
        #expect(Set(used).subtracting(explained) == ["CODE"], "CODE is explained where it is")
        #expect(explained.subtracting(used).isEmpty)
    }

    @Test func `There is no page unless it is configured`() async throws {
        #expect(try await TestGateway().send(.get, "/").status == 404)
        #expect(try await TestGateway().send(.get, "/pages/home.js").status == 404)
        let origin = SignInPages(origin: "http://127.0.0.1:8080")
        let account = try await TestGateway(signInPages: origin).send(.get, "/")
        #expect(account.status == 303 && account.headers[.location] == "/my/account")
        for (value, address) in [("true", "127.0.0.1:8080"), ("false", nil)] {
            #expect(try GatewaySettings(configuration(["METHODS_PAGE": value])).home?.address == address)
        }
    }

    @Test func `The simulator is an origin, and for development alone`() throws {
        let (page, key) = ("METHODS_PAGE", "SIMULATOR_URL")
        let home = try GatewaySettings(configuration([page: "true", key: "http://127.0.0.1:7080/"])).home
        #expect(home?.simulator == "http://127.0.0.1:7080")
        #expect(try GatewaySettings(configuration([key: "http://127.0.0.1:7080"])).home == nil)
        let fault = #expect(throws: ConfigurationErrors.self) {
            try GatewaySettings(configuration([page: "true", key: "http://127.0.0.1:7080/x"]))
        }
        #expect(fault.map { "\($0)".contains("VESTIBULE_GATEWAY_SIMULATOR_URL") } == true)
    }

    private func configuration(_ values: [String: String]) throws -> Configuration {
        let values = Dictionary(uniqueKeysWithValues: values.map { ("VESTIBULE_GATEWAY_\($0)", $1) })
        return try Configuration.testing(
            keys: GatewayServer.configurationKeys,
            program: GatewayServer.programName,
            values.merging(["VESTIBULE_GATEWAY_LISTEN": "0.0.0.0:8080"]) { $1 }
        )
    }
}
