import API
import Models
import RPC
import SwiftProtobuf
import Testing

@testable import InvitesService

/// The groups of a user as identity asks for them, for operators.
@Suite(.serialized) struct LookUpGroupsTests {
    @Test func `Any user's groups are returned, the newest first, with the role`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose) = (someone(), someone())
            let first = try await service.group("First", by: maria)
            let second = try await service.group("Second", by: maria)
            func groups(_ user: String) async throws -> InvitesV1.LookUpGroupsResponse {
                let context = ServerContext(
                    ServerCall(
                        method: InvitesServiceMethods.lookUpGroups,
                        metadata: Metadata(),
                        deadline: nil,
                        peer: PeerInfo(address: "127.0.0.1:1", isEncrypted: false, certificateNames: [])
                    )
                )
                return try await service.parts.methods.lookUpGroups(.with { $0.userID = user }, context: context)
            }
            let found = try await groups(maria.description)
            #expect(found.groups.map(\.groupID) == [second, first] && found.groups.map(\.name) == ["Second", "First"])
            #expect(found.groups.map(\.role) == [.owner, .owner] && !found.isIncomplete)
            #expect(try await groups(jose.description).groups.isEmpty)
            await #expect(throws: RPCError.self) { _ = try await groups("me") }
        }
    }
}
