import API
import HTTP
import HTTPJSON
import HTTPTypes
import JOSE
import RPC
import Testing

@testable import GatewayService

/// The one table of errors, and what is made from it.
struct ErrorCodeTests {
    private static let byName = Dictionary(ErrorCode.all.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })

    @Test func `The table has a row for each value of the proto`() {
        #expect(Self.byName.count == ErrorCode.all.count)
        // One of the enum's values says that there is no reason.
        #expect(ErrorCode.all.count == AppV1.ErrorReason.allCases.count - 1)
        #expect(ErrorCode.all.allSatisfy { !$0.description.isEmpty && 400...599 ~= $0.http })
    }

    /// What apps must not guess: which of the refusals ends the session.
    @Test(arguments: [
        ("ACCESS_TOKEN_EXPIRED", ErrorCode.Action.refresh), ("ACCESS_TOKEN_INVALID", .refresh),
        ("UNAUTHENTICATED", .refresh), ("SESSION_REVOKED", .signInAgain), ("SESSION_EXPIRED", .signInAgain),
        ("SESSION_INVALID", .signInAgain), ("REFRESH_TOKEN_INVALID", .signInAgain),
        ("REFRESH_TOKEN_REUSED", .signInAgain),
        ("RATE_LIMITED", .wait), ("PHONE_TAKEN", .show), ("UNKNOWN_FIELD", .fixRequest),
    ])
    func `Each code documents the app's action`(name: String, action: ErrorCode.Action) {
        #expect(Self.byName[name]?.action == action)
    }

    @Test(arguments: Status.Code.allCases)
    func `A call that failed without a reason has a code of the table`(code: Status.Code) throws {
        let problem = Problem(answering: RPCError(code, "inner words"))
        let row = try #require(Self.byName[problem.code], "\(problem.code)")
        #expect(row.http == problem.status.code)
    }

    @Test func `Faults of HTTP have codes of the table, with their statuses`() throws {
        for fault in HTTPError.allCases {
            let row = try #require(Self.byName[fault.rawValue], "\(fault.rawValue)")
            #expect(row.grpc == nil)
            #expect(row.http == fault.problem.status.code, "\(fault.rawValue)")
        }
    }

    /// What generators of clients can make something of: the same schema for each status, by its name.
    @Test func `Every problem of the description is the one schema, and its codes are the table`() async throws {
        let document = try await TestGateway().send(.get, "/openapi.json").body
        let components = try #require(document["components"]?.object)
        let schemas = try #require(components["schemas"]?.object)
        #expect(
            schemas["ErrorCode"]?.object?["enum"]?.array?.map(\.string) == ErrorCode.all.map(\.name)
        )
        let reference: JSONValue = ["$ref": "#/components/schemas/ErrorCode"]
        let problem = schemas["Problem"]?.object?["properties"]?.object
        #expect(problem?["code"] == reference)
        #expect(schemas["ProblemField"]?.object?["properties"]?.object?["code"] == reference)
        var count = 0
        for response in try #require(components["responses"]?.object).members {
            guard let content = response.value.object?["content"]?.object?["application/problem+json"] else { continue }
            count += 1
            #expect(content.object?["schema"] == ["$ref": "#/components/schemas/Problem"], "\(response.name)")
        }
        #expect(count == OpenAPI.ProblemAnswer.allCases.count)
    }
}
