import API
import Models
import RPC
import ServiceKit
import ServiceModels
import SwiftProtobuf
import Testing

@testable import InvitesService

/// For whom methods are answered: for the person of identity's proof, and nobody else.
@Suite(.serialized) struct CallerProofTests {
    private func refusal(
        _ method: MethodDescriptor,
        _ service: InvitesFixture,
        _ options: CallOptions = CallOptions()
    ) async -> String? {
        var router = Router()
        service.parts.groupMethods.register(in: &router)
        do throws(RPCError) {
            _ = try await InProcessChannel(router).unary(
                method,
                Google_Protobuf_Empty(),
                response: Google_Protobuf_Empty.self,
                options: options
            )
            return nil
        } catch {
            return error.reason
        }
    }

    private func options(_ proof: String) -> CallOptions {
        var options = CallOptions()
        options.metadata.add("vestibule-caller-proof", proof)
        return options
    }

    /// A new method is refused here until it asks for the person.
    @Test func `Each method for users asks for a proof`() async throws {
        try await InvitesFixture.run { service in
            // Watching has many users in a stream, each with a proof in a message: GroupWatchTests.
            for method in GroupServiceMethods.all where method != GroupServiceMethods.watchGroups {
                #expect(await refusal(method, service) == "CALLER_PROOF_REQUIRED", "\(method.method)")
                #expect(
                    await refusal(method, service, options("nonsense")) == "CALLER_PROOF_INVALID",
                    "\(method.method)"
                )
            }
        }
    }

    @Test func `A proof to another service, of another master or of last hour is refused`() async throws {
        try await InvitesFixture.run { service in
            let now = service.clock.clock.nowMilliseconds
            func proof(_ seed: UInt8, _ name: String, _ milliseconds: Int64) throws -> String {
                let key = try #require(CallerProofKey(master: [UInt8](repeating: seed, count: 32), service: name))
                let minute = CallerProof.minute(madeAtMilliseconds: milliseconds)
                return CallerProof(userID: someone(), sessionID: nil, minute: minute).text(under: key, for: name)
            }
            let refused = [
                (try proof(5, "profile", now), "CALLER_PROOF_INVALID"),
                (try proof(6, "invites", now), "CALLER_PROOF_INVALID"),
                (try proof(5, "invites", now - 3_600_000), "CALLER_PROOF_EXPIRED"),
            ]
            for (proof, reason) in refused {
                let error = try await failure {
                    try await service.client.createGroup(.with { $0.name = "Hikers" }, options: options(proof))
                }
                #expect(error.code == .unauthenticated && error.reason == reason)
            }
            #expect(try await service.count("SELECT count(*) FROM groups") == 0)
        }
    }

    @Test func `A member's name in a request opens no group to another`() async throws {
        try await InvitesFixture.run { service in
            let (maria, mallory) = (someone(), someone())
            let group = try await service.group(by: maria)
            var sent =
                try ProfileV1.LookUpProfileRequest.with { $0.userID = maria.description }.serializedBytes() as [UInt8]
            sent += try AppV1.ListMembersRequest.with { $0.groupID = group }.serializedBytes() as [UInt8]
            let named = try AppV1.ListMembersRequest(serializedBytes: sent)
            let without = try await failure { try await service.client.listMembers(named) }
            #expect(without.reason == "CALLER_PROOF_REQUIRED")
            let other = try await failure {
                try await service.client.listMembers(named, options: service.options(for: mallory))
            }
            #expect(other.reason == "NOT_A_MEMBER")
        }
    }
}
