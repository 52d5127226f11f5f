import API
import Models
import RPC
import ServiceKit
import ServiceModels
import SwiftProtobuf
import Testing

@testable import ProfileService

/// Methods answer only for the person of identity's proof.
@Suite(.serialized) struct CallerProofTests {
    /// Methods without a person: the list of callers allows them per service (docker/compose.yaml).
    private static let forServices: Set<MethodDescriptor> = [
        ProfileServiceMethods.lookUpProfile, ProfileServiceMethods.findUsers, ProfileServiceMethods.closeAccount,
        ProfileServiceMethods.findPhoneHolder,
        ProfileServiceMethods.releasePhone, ProfileServiceMethods.closeIfEmpty,
        ProfileServiceMethods.claimProvenPhone, ProfileServiceMethods.listPhoneDisputes,
        // An avatar may be read by every caller that knows its id.
        ProfileServiceMethods.getAvatar,
    ]
    /// Methods that may be called for a user without an account.
    private static let forAnybody: Set<MethodDescriptor> = [ProfileServiceMethods.checkUsername]

    private func refusal(
        _ method: MethodDescriptor,
        _ service: ProfileFixture,
        _ options: CallOptions = CallOptions()
    ) async -> String? {
        let channel = InProcessChannel(Router(service.parts.methods))
        do throws(RPCError) {
            _ = try await channel.unary(
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

    /// Fails for a new method until it checks the person, or is listed above.
    @Test func `Each method requires a proof, or is for services`() async throws {
        try await ProfileFixture.run { service in
            for method in ProfileServiceMethods.all where !Self.forServices.contains(method) {
                let isForAnybody = Self.forAnybody.contains(method)
                let without = await refusal(method, service)
                #expect(
                    (without == "CALLER_PROOF_REQUIRED") == !isForAnybody,
                    "\(method.method): \(without ?? "answered")"
                )
                #expect(
                    await refusal(method, service, options("nonsense")) == "CALLER_PROOF_INVALID",
                    "\(method.method)"
                )
            }
        }
    }

    @Test func `A proof for another service, by another key or of an hour ago is refused`() async throws {
        try await ProfileFixture.run { service in
            let now = service.clock.clock.nowMilliseconds
            func proof(_ seed: UInt8, _ name: String, _ milliseconds: Int64) throws -> String {
                let key = try #require(CallerProofKey(master: [UInt8](repeating: seed, count: 32), service: name))
                let minute = CallerProof.minute(madeAtMilliseconds: milliseconds)
                return CallerProof(userID: someone(), sessionID: nil, minute: minute).text(under: key, for: name)
            }
            let refused = [
                (try proof(5, "invites", now), "CALLER_PROOF_INVALID"),
                (try proof(5, "identity", now), "CALLER_PROOF_INVALID"),
                (try proof(6, "profile", now), "CALLER_PROOF_INVALID"),
                (try proof(5, "profile", now - 3_600_000), "CALLER_PROOF_EXPIRED"),
                (try proof(5, "profile", now + 120_000), "CALLER_PROOF_EXPIRED"),
            ]
            for (proof, reason) in refused {
                let error = try await failure {
                    try await service.client.updateProfile(
                        .with { $0.displayName = "Mallory" },
                        options: options(proof)
                    )
                }
                #expect(error.code == .unauthenticated && error.reason == reason)
            }
            #expect(try await service.count("SELECT count(*) FROM profiles") == 0)
            _ = try await service.client.updateProfile(
                .with { $0.displayName = "Maria" },
                options: options(try proof(5, "profile", now))
            )
            #expect(try await service.count("SELECT count(*) FROM profiles") == 1)
        }
    }

    @Test func `A user id in a request doesn't replace the proof`() async throws {
        try await ProfileFixture.run { service in
            let (maria, mallory) = (someone(), someone())
            try await service.update(maria, displayName: "Maria")
            let sent =
                try ProfileV1.LookUpProfileRequest.with { $0.userID = maria.description }.serializedBytes() as [UInt8]
            let named = try ProfileV1.GetProfileRequest(serializedBytes: sent)
            let error = try await failure { try await service.client.getProfile(named) }
            #expect(error.reason == "CALLER_PROOF_REQUIRED")
            let told = try await service.client.getProfile(named, options: service.options(for: mallory)).profile
            #expect(told.userID == mallory.description && told.displayName.isEmpty)
        }
    }
}
