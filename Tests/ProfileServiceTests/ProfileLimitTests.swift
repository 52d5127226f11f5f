import API
import Models
import Postgres
import ProfileDomain
import RPC
import ServiceKit
import TestDatabases
import Testing

@testable import ProfileService

@Suite(.serialized) struct ProfileLimitTests {
    private static let day: Int64 = 86_400_000

    private func limits(
        tries: Int = 1_000,
        claims: Int = 1_000,
        addressTries: Int = 1_000,
        addressClaims: Int = 1_000
    ) -> ProfileLimits {
        ProfileLimits(
            tries: TryLimit(triesMax: tries, windowMilliseconds: 60_000),
            claims: TryLimit(triesMax: claims, windowMilliseconds: Self.day),
            addressTries: Quota(kind: "phone tries", countMax: addressTries, windowMilliseconds: 60_000),
            addressClaims: .daily("phone claims", countMax: addressClaims)
        )
    }

    @Test func `A user can take a limited number of free numbers a day`() async throws {
        try await ProfileFixture.run(limits: limits(claims: 2)) { service in
            let user = someone()
            try await service.update(user, phone: phone(1))
            service.clock.advance(milliseconds: 1_000)
            try await service.update(user, phone: phone(2))
            let error = try await failure { try await service.update(user, phone: phone(3)) }
            #expect(error.code == .resourceExhausted && error.reason == "TOO_MANY_ATTEMPTS")
            #expect(error.retryAfter == .milliseconds(Self.day - 1_000))
            // The user keeps their number, and every other change is still allowed.
            #expect(try await service.update(user, displayName: "Jose", phone: phone(2)).displayName == "Jose")
            #expect(try await service.profile(user).phoneNumber == "+" + digits(2))
            try await service.update(someone(), phone: phone(3))
            service.clock.advance(milliseconds: Self.day - 1_000)
            try await service.update(user, phone: phone(4))
        }
    }

    @Test func `The users of one address take a limited number of numbers, at two replicas together`() async throws {
        let facts = try await TestDatabase.fresh(schema: "profile", hasOwner: true)
        try await ProfileFixture.run(on: facts, limits: limits(addressClaims: 7)) { first in
            try await ProfileFixture.run(on: facts, limits: limits(addressClaims: 7)) { second in
                let reasons = await withTaskGroup(of: String.self) { group in
                    for number in 0..<30 {
                        let service = number % 2 == 0 ? first : second
                        group.addTask {
                            do throws(RPCError) {
                                try await service.update(someone(), phone: phone(number), from: "203.0.113.9")
                                return "saved"
                            } catch {
                                return error.reason ?? "\(error)"
                            }
                        }
                    }
                    return await group.reduce(into: [:]) { counts, reason in counts[reason, default: 0] += 1 }
                }
                #expect(reasons == ["saved": 7, "TOO_MANY_ATTEMPTS": 23])
                // A refused save left no number and no event.
                #expect(try await first.count("SELECT count(*) FROM phones") == 7)
                #expect(try await first.waitingEvents().count == 7)
                // Another address has another limit, and a call without an address has none.
                try await first.update(someone(), phone: phone(100), from: "203.0.113.10")
                try await second.update(someone(), phone: phone(101))
                let error = try await failure {
                    try await second.update(someone(), phone: phone(102), from: "::ffff:203.0.113.9")
                }
                #expect(error.retryAfter == .milliseconds(Self.day))
            }
        }
    }

    @Test func `The users of one address try a limited number of others' numbers`() async throws {
        try await ProfileFixture.run(limits: limits(addressTries: 3)) { service in
            try await service.update(someone(), phone: phone(1))
            for index in 0..<5 {
                // A household's addresses with the same prefix count as one.
                let error = try await failure {
                    try await service.update(someone(), phone: phone(1), from: "2001:db8:1:2::\(index)")
                }
                #expect(error.reason == (index < 3 ? "PHONE_TAKEN" : "TOO_MANY_ATTEMPTS"))
            }
            service.clock.advance(milliseconds: 60_000)
            let error = try await failure {
                try await service.update(someone(), phone: phone(1), from: "2001:db8:1:2::9")
            }
            #expect(error.reason == "PHONE_TAKEN")
        }
    }

    /// Otherwise a user beyond an address's limit could distinguish taken numbers from free ones for ever.
    @Test func `Beyond the limits of an address no answer reveals whether a number is free`() async throws {
        for limits in [limits(addressTries: 1), limits(addressClaims: 1)] {
            try await ProfileFixture.run(limits: limits) { service in
                try await service.update(someone(), phone: phone(1), from: "203.0.113.9")
                _ = try? await service.update(someone(), phone: phone(1), from: "203.0.113.9")
                for number in [1, 2] {
                    let error = try await failure {
                        try await service.update(
                            someone(),
                            phone: phone(number),
                            username: "admin",
                            from: "203.0.113.9"
                        )
                    }
                    #expect(error.reason == "TOO_MANY_ATTEMPTS")
                }
                // The count ends at its time, also if a clock was wrong.
                try await service.database.execute("UPDATE quotas SET ends_at = ends_at + interval '300 days'")
                try await service.update(someone(), phone: phone(3), from: "203.0.113.9")
            }
        }
    }

    @Test func `Users of one address who want each other's numbers don't deadlock`() async throws {
        let facts = try await TestDatabase.fresh(schema: "profile", hasOwner: true)
        try await ProfileFixture.run(on: facts, limits: limits()) { first in
            try await ProfileFixture.run(on: facts, limits: limits()) { second in
                let users = (0..<4).map { _ in someone() }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for worker in 0..<8 {
                        let service = worker % 2 == 0 ? first : second
                        group.addTask {
                            var generator = SeededGenerator(state: UInt64(worker))
                            for _ in 0..<20 {
                                let user = users.randomElement(using: &generator) ?? users[0]
                                let number = Int.random(in: 0..<5, using: &generator)
                                let address = "192.0.2.\(Int.random(in: 1...2, using: &generator))"
                                do throws(RPCError) {
                                    try await service.update(user, phone: phone(number), from: address)
                                } catch {
                                    #expect(error.reason == "PHONE_TAKEN", "\(error)")
                                }
                            }
                        }
                    }
                    try await group.waitForAll()
                }
                let deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
                #expect(try await first.count(deadlocks) == 0)
            }
        }
    }

    @Test func `Only an address's keyed code is stored, for as long as it counts`() async throws {
        try await ProfileFixture.run(limits: limits()) { service in
            let user = someone()
            try await service.update(user, phone: phone(1), from: "198.51.100.77")
            // Not a user's address: none, this machine's own, and an invalid one.
            for (number, address) in [nil, "127.0.0.1", "::1", "198.51.100.77, 10.0.0.1", "unknown"].enumerated() {
                try await service.update(user, phone: phone(2 + number), from: address)
            }
            #expect(try await service.count("SELECT count(*) FROM quotas") == 1)
            let rows = try await service.database.query("SELECT subject FROM quotas")
            let code = try rows[0].decode(0, as: [UInt8].self)
            let other = ClientAddressKey(Secret([UInt8](repeating: 8, count: 32)), service: "profile")
            #expect(code.count == 32)
            #expect(code != other.code(of: Metadata([ClientAddressKey.metadataName: "198.51.100.77"])))
            await service.parts.cleanup.clean()
            #expect(try await service.count("SELECT count(*) FROM quotas") == 1)
            service.clock.advance(milliseconds: Self.day)
            await service.parts.cleanup.clean()
            #expect(try await service.count("SELECT count(*) FROM quotas") == 0)
        }
    }

    @Test func `The cleanup deletes all expired rows, however many`() async throws {
        try await ProfileFixture.run { service in
            try await service.database.execute(
                """
                INSERT INTO quotas (subject, kind, count, ends_at)
                SELECT decode(lpad(to_hex(n), 64, '0'), 'hex'), 'old', 1, timestamptz 'epoch' FROM generate_series(1, 2500) n
                """
            )
            await service.parts.cleanup.clean()
            #expect(try await service.count("SELECT count(*) FROM quotas") == 0)
        }
    }

    @Test(arguments: ["admin", "Support", "ROOT", "adm1n", "_a_d_m_i_n_", "r00t", "vestibule"])
    func `A reserved username is taken`(name: String) async throws {
        var limits = limits()
        limits.reservedUsernames = ReservedUsernames(["Vestibule"])
        try await ProfileFixture.run(limits: limits) { service in
            let user = someone()
            let error = try await failure { try await service.update(user, displayName: "Jose", username: name) }
            #expect(error.code == .alreadyExists && error.reason == "USERNAME_TAKEN")
            #expect(try await service.count("SELECT count(*) FROM usernames") == 0)
            #expect(try await service.update(user, username: "administer").username == "administer")
        }
    }

    @Test func `A user who has a reserved username keeps it`() async throws {
        try await ProfileFixture.run { service in
            let user = someone()
            try await service.update(user, username: "someone")
            try await service.database.execute("UPDATE usernames SET username_key = 'admin'")
            try await service.database.execute("UPDATE profiles SET username = 'admin'")
            #expect(try await service.update(user, displayName: "Jose").username == "admin")
            #expect(try await service.update(user, username: "Admin").username == "Admin")
        }
    }
}
