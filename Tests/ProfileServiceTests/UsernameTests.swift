import API
import Models
import Postgres
import ProfileDomain
import RPC
import ServiceKit
import SwiftProtobuf
import Testing

@testable import ProfileService

/// What a user gets whose chosen username isn't available.
@Suite(.serialized) struct UsernameTests {
    private func check(
        _ service: ProfileFixture,
        _ username: String,
        for userID: UserID? = nil,
        from address: String? = nil
    ) async throws -> ProfileV1.CheckUsernameResponse {
        var options = userID.map(service.options) ?? CallOptions()
        if let address { options.metadata.add(ClientAddressKey.metadataName, address) }
        return try await service.client.checkUsername(.with { $0.username = username }, options: options)
    }

    @Test func `Three free usernames are suggested for one that is taken`() async throws {
        try await ProfileFixture.run { service in
            let (maria, other) = (someone(), someone())
            try await service.update(maria, username: "maria")
            try await service.update(other, displayName: "Ana Cruz")
            for _ in 0..<20 {
                let answer = try await check(service, "Maria", for: other)
                #expect(!answer.isFree && answer.suggestions.count == 3)
                for suggestion in answer.suggestions { #expect(try await service.isFree(suggestion)) }
                #expect(answer.suggestions.contains { $0.hasPrefix("ana") }, "derived from the display name")
            }
            let own = try await check(service, "MARIA", for: maria)
            #expect(own.isFree && own.suggestions.isEmpty)
            #expect(try await check(service, "admin", for: other).suggestions.count == 3)
            #expect(try await check(service, "maria").suggestions.allSatisfy { $0.hasPrefix("maria") })
        }
    }

    @Test func `Taken usernames are not suggested`() async throws {
        try await ProfileFixture.run { service in
            try await service.update(someone(), username: "maria")
            // All with two and three digits are taken: the remaining ones have four.
            _ = try await service.database.execute(
                """
                INSERT INTO usernames (username_key, user_id, claimed_at)
                SELECT 'maria' || n, gen_random_uuid(), now() FROM generate_series(10, 999) AS n
                """
            )
            for _ in 0..<20 {
                let suggestions = try await check(service, "maria").suggestions
                #expect(suggestions.count == 3 && suggestions.allSatisfy { $0.utf8.count == 9 }, "\(suggestions)")
            }
        }
    }

    @Test func `A save that meets one carries suggestions, also for the display name in it`() async throws {
        try await ProfileFixture.run { service in
            try await service.update(someone(), username: "maria")
            for username in ["maria", "support"] {
                let error = try await failure {
                    try await service.update(someone(), displayName: "Ana Cruz", username: username)
                }
                #expect(error.code == .alreadyExists && error.reason == "USERNAME_TAKEN")
                #expect(error.fieldViolations.map(\.field) == ["username"])
                let suggestions = try #require(error.reasonMetadata["suggestions"]).split(separator: ",").map(
                    String.init
                )
                #expect(suggestions.count == 3 && suggestions.contains { $0.hasPrefix("ana") })
                for suggestion in suggestions { #expect(try await service.isFree(suggestion)) }
            }
        }
    }

    private func limited(_ change: (inout ProfileLimits) -> Void) -> ProfileLimits {
        var limits = ProfileLimits()
        change(&limits)
        return limits
    }

    @Test func `A user's checks and failed saves are limited per hour`() async throws {
        let limits = limited {
            $0.usernameChecks = Quota(kind: $0.usernameChecks.kind, countMax: 3, windowMilliseconds: 3_600_000)
        }
        try await ProfileFixture.run(limits: limits) { service in
            let (maria, curious) = (someone(), someone())
            try await service.update(maria, username: "maria")
            _ = try await check(service, "maria", for: curious)
            _ = try await check(service, "clara", for: curious)
            let taken = try await failure { try await service.update(curious, username: "maria") }
            #expect(taken.reason == "USERNAME_TAKEN")
            // The answer is the same for a taken, a reserved and a free name.
            for username in ["maria", "clara", "admin"] {
                for error in [
                    try await failure { try await check(service, username, for: curious) },
                    try await failure { try await service.update(curious, username: username) },
                ] {
                    #expect(error.code == .resourceExhausted && error.reason == "TOO_MANY_ATTEMPTS")
                    #expect(error.fieldViolations.map(\.field) == ["username"])
                    #expect(error.retryAfter == .seconds(3_600) && error.reasonMetadata.isEmpty)
                }
            }
            #expect(try await service.profile(curious).username.isEmpty)
            // Everything else is still allowed, and so are other users.
            try await service.update(curious, displayName: "Curious One")
            #expect(try await check(service, "clara", for: maria).isFree)
            service.clock.advance(milliseconds: 3_600_000)
            #expect(try await service.update(curious, username: "clara").username == "clara")
        }
    }

    @Test func `Checks from one address are limited together`() async throws {
        let limits = limited {
            $0.addressUsernameChecks = Quota(kind: $0.usernameChecks.kind, countMax: 2, windowMilliseconds: 3_600_000)
        }
        try await ProfileFixture.run(limits: limits) { service in
            for _ in 0..<2 { _ = try await check(service, "maria", for: someone(), from: "203.0.113.7") }
            let error = try await failure { try await check(service, "maria", for: someone(), from: "203.0.113.7") }
            #expect(error.reason == "TOO_MANY_ATTEMPTS")
            #expect(try await check(service, "maria", for: someone(), from: "203.0.113.8").isFree)
        }
    }

    @Test func `Of many users who want one name at once one gets it, and the others get suggestions`() async throws {
        try await ProfileFixture.run { service in
            let users = (0..<8).map { _ in someone() }
            let outcomes = await withTaskGroup(of: [String]?.self) { tasks in
                for user in users {
                    tasks.addTask {
                        do throws(RPCError) {
                            try await service.update(user, username: "maria")
                            return nil
                        } catch {
                            return error.reasonMetadata["suggestions"]?.split(separator: ",").map(String.init) ?? []
                        }
                    }
                }
                return await tasks.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.count { $0 == nil } == 1)
            #expect(outcomes.compactMap(\.self).allSatisfy { $0.count == 3 })
        }
    }

    @Test(arguments: ["admin", "maria"])
    func `A taken username reveals nothing about the number saved with it`(username: String) async throws {
        try await ProfileFixture.run { service in
            try await service.update(someone(), phone: phone(1), username: "maria")
            let user = someone()
            var answers: [RPCError] = []
            for number in [phone(1), phone(2)] {
                answers.append(try await failure { try await service.update(user, phone: number, username: username) })
            }
            #expect(answers.map(\.reason) == ["USERNAME_TAKEN", "USERNAME_TAKEN"])
            #expect(try await service.count("SELECT count(*) FROM profiles WHERE phone_tries > 0") == 0)
        }
    }
}
