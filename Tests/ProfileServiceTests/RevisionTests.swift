import API
import Models
import RPC
import SwiftProtobuf
import Testing

@testable import ProfileService

/// Optimistic concurrency: a save names the revision that it changes.
@Suite(.serialized) struct RevisionTests {
    private func save(
        _ service: ProfileFixture,
        _ user: UserID,
        _ name: String,
        expecting revision: Int64
    ) async throws(RPCError) -> ProfileV1.Profile {
        try await service.client.updateProfile(
            .with { ($0.displayName, $0.expectedRevision) = (name, revision) },
            options: service.options(for: user)
        ).profile
    }

    @Test func `Each save counts, whatever it changes, and so does what an operator takes`() async throws {
        try await ProfileFixture.run { service in
            let user = someone()
            #expect(try await service.profile(user).revision == 0)
            #expect(try await service.update(user, displayName: "Maria").revision == 1)
            #expect(try await service.update(user, displayName: "Maria").revision == 1)
            #expect(try await service.update(user, phone: phone(1), username: "maria").revision == 2)
            _ = try await service.client.releasePhone(.with { $0.userID = user.description })
            #expect(try await service.profile(user).revision == 3)
            // What fails changes nothing.
            try await service.update(someone(), phone: phone(2))
            _ = try await failure { try await service.update(user, phone: phone(2)) }
            #expect(try await service.profile(user).revision == 3)
        }
    }

    @Test func `A save of a revision that is over changes nothing and takes nothing`() async throws {
        try await ProfileFixture.run { service in
            let user = someone()
            try await service.update(user, displayName: "Maria")
            try await service.update(user, displayName: "Clara")
            let error = try await failure {
                try await service.client.updateProfile(
                    .with { ($0.phoneNumber, $0.username, $0.expectedRevision) = (phone(1), "maria", 1) },
                    options: service.options(for: user)
                )
            }
            #expect(error.code == .aborted && error.reason == "REVISION_MISMATCH")
            #expect(error.reasonMetadata == ["revision": "2"])
            #expect(try await service.count("SELECT count(*) FROM phones") == 0)
            #expect(try await service.count("SELECT count(*) FROM usernames") == 0)
            #expect(try await service.profile(user).displayName == "Clara")
            #expect(try await save(service, user, "Ana", expecting: 2).revision == 3)
            // Its answer was lost, and the app asks again.
            #expect(try await save(service, user, "Ana", expecting: 2).revision == 3)
        }
    }

    @Test func `Of many saves of one revision one succeeds`() async throws {
        try await ProfileFixture.run { service in
            let user = someone()
            try await service.update(user, displayName: "Maria")
            for round: Int64 in 1...10 {
                let saved = await withTaskGroup(of: Bool.self) { tasks in
                    for number in 0..<6 {
                        tasks.addTask {
                            do throws(RPCError) {
                                _ = try await save(service, user, "Maria \(round) \(number)", expecting: round)
                                return true
                            } catch {
                                return error.reason != "REVISION_MISMATCH"
                            }
                        }
                    }
                    return await tasks.reduce(0) { $0 + ($1 ? 1 : 0) }
                }
                #expect(saved == 1)
                #expect(try await service.profile(user).revision == round + 1)
            }
        }
    }
}
