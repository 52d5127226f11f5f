import API
import APIDoubles
import Logging
import RPC
import SwiftProtobuf
import Testing

@testable import GatewayService

/// The methods of `vestibule.app.v1.GroupService`, which invites implements.
struct ForwardedCallTests {
    private let gateway = TestGateway()

    private func code(_ method: MethodDescriptor, _ options: CallOptions) async throws -> Status.Code {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let channel = InProcessChannel(try gateway.gateway.router(timeLimit: .seconds(60), logger: logger))
        do throws(RPCError) {
            _ = try await channel.unary(
                method,
                Google_Protobuf_Empty(),
                response: Google_Protobuf_Empty.self,
                options: options
            )
            return .ok
        } catch {
            return error.code
        }
    }

    /// The services behind the gateway refuse a call without the proof for them: UNAUTHENTICATED. Those that they have no answer for in
    /// this test, they refuse with UNIMPLEMENTED.
    @Test(arguments: GroupServiceMethods.all.filter { $0.kind == .unary })
    func `Each needs a session, and reaches invites with its user's proof`(method: MethodDescriptor) async throws {
        #expect(try await code(method, AppClients.options(nil)) == .unauthenticated)
        #expect(gateway.stubs.calls.isEmpty)
        #expect(try await code(method, AppClients.asUser) != .unauthenticated)
        #expect(gateway.stubs.calls.last == method.method)
    }

    /// A client that may repeat such a call would make a second link.
    @Test func `A call that has an effect each time, and may have had it, is not to be repeated`() async throws {
        gateway.stubs.groups.set {
            $0.createGroupLink = { _, _ in throw RPCError(.unavailable, "the connection was lost") }
            $0.addMember = { _, _ in throw RPCError(.unavailable, "the connection was lost") }
        }
        let groups = try AppClients(gateway).groups
        let link = try await refusal { _ = try await groups.createGroupLink(.init(), options: AppClients.asUser) }
        #expect(link.reason == "OUTCOME_UNKNOWN" && link.retryAfter == nil)
        let member = try await refusal { _ = try await groups.addMember(.init(), options: AppClients.asUser) }
        #expect(member.reason == "UNAVAILABLE" && member.retryAfter == .seconds(1))
    }
}
