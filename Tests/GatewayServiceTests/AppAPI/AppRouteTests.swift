import API
import HTTPTypes
import JOSE
import RPC
import Testing

@testable import GatewayService

/// Routes that the gateway makes of protos.
struct AppRouteTests {
    private let gateway = TestGateway().gateway
    private var table: AppMethodTable { AppMethodTable(gateway.methods) }

    @Test func `Every unary method of the protos is answered`() {
        let answered = Set(table.all.map(\.descriptor)).union(KeyServiceMethods.all)
        #expect(answered == Set(AppCallMetrics.methods.filter { $0.kind == .unary }))
        #expect(table.all.count == Set(table.all.map(\.descriptor)).count)
    }

    @Test func `Every method has an operation, by its proto or by hand`() {
        let operations = Set(gateway.endpoints.map(\.operation.id))
        for method in AppCallMetrics.methods {
            #expect(operations.contains(AppDescription.current[method].operationID), "\(method.path)")
        }
    }

    @Test func `The callers of a method are those in its proto`() {
        for method in table.all {
            switch method.answer {
            case .user: #expect(method.described.options.caller == .unspecified, "\(method.descriptor.path)")
            case .anyone: continue
            }
        }
        let methods = table.all.filter { $0.described.options.caller == .unspecified }
        for method in methods {
            // These check the token themselves, together with what they do.
            if case .anyone = method.answer {
                #expect(["SignOutEverywhere", "DeleteMe", "LinkProvider"].contains(method.described.name))
            }
        }
    }

    @Test func `Every error that a proto names exists, and so do words for people`() {
        for method in AppCallMetrics.methods {
            let described = AppDescription.current[method]
            #expect(described.errors.count == described.options.errors.count)
            #expect(!described.summary.isEmpty && !described.summary.hasSuffix("."), "\(method.path)")
        }
    }

    @Test func `Reading changes nothing, and only reading is by GET`() {
        for method in table.all {
            guard let route = AppRoute(method) else { continue }
            #expect(route.httpMethod != .get || !route.described.changes, "\(route.path)")
        }
    }

    @Test func `A request without a token is refused before its body is read`() async throws {
        let gateway = TestGateway()
        for path in ["/groups", "/auth/sign-out-everywhere", "/me/phone-proof"] {
            let answer = try await gateway.send(.post, path, "{not JSON")
            #expect(answer.status == 401 && answer.code == "AUTHENTICATION_REQUIRED", "\(path)")
        }
    }

    @Test(arguments: ["0", "101", "+5", "007", "", "9223372036854775808", "٣"])
    func `A page size that is no whole number from 1 to 100 is refused`(_ size: String) async throws {
        let escaped = size.utf8.map { "%" + String(Int($0) | 0x100, radix: 16).dropFirst().uppercased() }.joined()
        let answer = try await TestGateway().sendAsUser(.get, "/groups?page_size=\(escaped)")
        #expect(answer.status == 400 && answer.fields == ["page_size"])
        #expect(answer.body["fields"]?.array?.first?.object?["code"] == "PAGE_SIZE_INVALID")
    }
}
