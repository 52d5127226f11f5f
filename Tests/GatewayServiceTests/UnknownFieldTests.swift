import HTTPJSON
import HTTPTypes
import JOSE
import Testing

@testable import GatewayService

/// Fields that a route doesn't know: an app that misspells one must not believe that it was saved.
struct UnknownFieldTests {
    private static let gateway = TestGateway(
        dialects: DialectSettings(dialects: Set(Dialect.allCases), supabaseServiceKey: nil)
    )
    private static let operations = gateway.gateway.endpoints.map(\.operation)

    private static func takesJSON(_ operation: OpenAPI.Operation) -> Bool {
        operation.body?.types == ["application/json"]
    }

    /// The operations whose bodies are defined by other parties.
    private static let isOfOthers: @Sendable (OpenAPI.Operation) -> Bool = {
        !$0.errors.isOurs || $0.id == "receiveAppleNotice"
    }

    @Test func `Each of our routes with a JSON body refuses an unknown field`() async throws {
        let operations = Self.operations.filter { Self.takesJSON($0) && !Self.isOfOthers($0) }
        #expect(operations.count >= 20)
        for operation in operations {
            let path = operation.path.replacing(/{[a-z_]+}/, with: "x-1")
            let answer = try await Self.gateway.sendAsUser(operation.method, path, #"{"shoe_size":41}"#)
            #expect(answer.status == 400 && answer.code == "REQUEST_INVALID", "\(operation.id)")
            #expect(answer.fields.contains("shoe_size"), "\(operation.id)")
        }
    }

    @Test func `Routes of dialects and callbacks accept all fields of their clients`() {
        let operations = Self.operations.filter { Self.takesJSON($0) && Self.isOfOthers($0) }
        #expect(operations.count >= 5)
        for operation in operations { #expect(operation.bodyFields == nil, "\(operation.id)") }
    }

    /// The bodies of the Cognito demo's apps (Tests/Clients/CognitoDemo), which send a name and an e-mail.
    @Test(arguments: [
        ("/auth/google", #"{"id_token":"x","email":"a@example.com","full_name":null}"#),
        ("/auth/apple", #"{"identity_token":"x","authorization_code":"c","email":null,"full_name":"Ann"}"#),
        ("/auth/apple", #"{"id_token":"x","nonce":"n","device_name":"iPhone","create":false,"code_verifier":"v"}"#),
    ])
    func `All fields of a sign-in's body are known`(path: String, body: String) async throws {
        #expect(try await Self.gateway.send(.post, path, body).code != "REQUEST_INVALID")
    }

    @Test func `A misspelled field is reported with a suggestion, and nothing is changed`() async throws {
        let gateway = TestGateway()
        let answer = try await gateway.sendAsUser(.patch, "/me", #"{"displayName":"Ann"}"#)
        #expect(answer.status == 400 && answer.fields == ["displayName"])
        #expect(answer.body["fields"]?.array?.first?.object?["code"] == "UNKNOWN_FIELD")
        #expect(
            answer.body["fields"]?.array?.first?.object?["detail"]?.string
                == "There is no such field here. Did you mean display_name?"
        )
        #expect(gateway.stubs.calls.allSatisfy { !$0.hasSuffix("UpdateProfile") })
    }

    @Test func `The description marks these bodies as closed`() async throws {
        let answer = try await Self.gateway.send(.get, "/openapi.json")
        let schemas = try #require(answer.body["components"]?.object?["schemas"]?.object)
        for (name, isClosed) in [
            ("ProfileChange", true), ("AppleSignIn", true), ("PersonToAdd", true), ("Profile", false),
        ] {
            let schema = try #require(schemas[name]?.object, "\(name)")
            #expect((schema["additionalProperties"] == false) == isClosed, "\(name)")
        }
    }
}
