import API
import AccountImport
import Models
import Postgres
import ProfileDomain
import RPC
import ServiceKit
import ServiceModels
import SwiftProtobuf
import TestDatabases
import Testing

@testable import ProfileService

/// What happens to a number that was typed and given up, when another user proves it.
@Suite(.serialized) struct GivenUpPhoneTests {
    private static let day: Int64 = 86_400_000
    private static let waiting = ProfileLimits(coolDownMilliseconds: day)
    private static let noWaiting = ProfileLimits(
        claims: TryLimit(triesMax: 100, windowMilliseconds: 1_000),
        coolDownMilliseconds: 0
    )

    @Test func `A proof takes the places of a user who typed the number and gave it up before`() async throws {
        try await ProfileFixture.run(limits: Self.waiting) { service in
            service.identity.wantedTypes = ["phone.changed"]
            #expect(await service.parts.events.askOnce())
            let (mallory, jose) = (someone(), someone())
            try await service.update(mallory, displayName: "Mallory", phone: phone(1))
            try await service.update(mallory, phone: phone(2))
            let before = try await service.profile(mallory)
            let event: EventID = IdentifierSource().make()
            for _ in 0..<2 {
                let claimed = try await service.prove(e164(1), of: jose, event: event)
                #expect(claimed.outcome == .proven && claimed.takenFromUserID == mallory.description)
            }
            #expect(try await service.toldInFull().last == "claimed 1 \(jose) proven from \(mallory)")
            #expect(try await service.profile(mallory) == before, "the user gave the number up before")
            #expect(
                try await service.count("SELECT count(*) FROM work WHERE queue = 'events' AND user_id = '\(mallory)'")
                    == 2
            )
            // It is reported once: the next proof of the number meets a user who has it.
            service.identity.see(jose, atMilliseconds: 1)
            let next = try await service.prove(e164(1), of: someone())
            #expect(next.takenFromUserID == jose.description)
        }
    }

    @Test func `A user who removed the number gets no notice that it was taken`() async throws {
        try await ProfileFixture.run(limits: Self.waiting, required: RequiredFields([])) { service in
            let (mallory, jose) = (someone(), someone())
            try await service.update(mallory, phone: phone(1))
            try await service.update(mallory, phone: "")
            #expect(try await service.prove(e164(1), of: jose).takenFromUserID == mallory.description)
            #expect(try await service.profile(mallory).phoneTakenAtMs == 0)
        }
    }

    @Test func `A user who had proven the number keeps their places`() async throws {
        try await ProfileFixture.run(limits: Self.waiting) { service in
            let (maria, jose) = (someone(), someone())
            try await service.prove(e164(1), of: maria)
            try await service.update(maria, phone: phone(2))
            #expect(try await service.prove(e164(1), of: jose).takenFromUserID.isEmpty)
            #expect(try await service.toldInFull().last == "claimed 1 \(jose) proven")
        }
    }

    @Test func `Typed numbers are remembered for thirty days, even without a waiting time`() async throws {
        try await ProfileFixture.run(limits: Self.noWaiting) { service in
            let (mallory, eve, jose, ana) = (someone(), someone(), someone(), someone())
            for user in [mallory, eve] {
                try await service.update(user, phone: phone(user == eve ? 2 : 1))
                try await service.update(user, phone: phone(user == eve ? 4 : 3))
            }
            try await service.prove(e164(5), of: ana)
            try await service.update(ana, phone: phone(6))
            let known = "SELECT count(*) FROM phone_cool_downs"
            #expect(try await service.count(known) == 2, "a proven number has no waiting time")
            service.clock.advance(milliseconds: 30 * Self.day - 1)
            await service.parts.cleanup.clean()
            #expect(try await service.count(known) == 2)
            #expect(try await service.prove(e164(1), of: jose).takenFromUserID == mallory.description)
            service.clock.advance(milliseconds: 1)
            #expect(try await service.prove(e164(2), of: jose).takenFromUserID.isEmpty)
            try await service.update(mallory, phone: phone(7))
            service.clock.advance(milliseconds: 30 * Self.day)
            await service.parts.cleanup.clean()
            #expect(try await service.count(known) == 0)
        }
    }

    @Test func `Two users who typed it in sequence both lose it`() async throws {
        try await ProfileFixture.run(limits: Self.noWaiting) { service in
            let (mallory, eve, jose, ana) = (someone(), someone(), someone(), someone())
            try await service.update(mallory, phone: phone(1))
            try await service.update(mallory, phone: phone(2))
            try await service.update(eve, phone: phone(1))
            let event: EventID = IdentifierSource().make()
            for _ in 0..<2 {
                let claimed = try await service.prove(e164(1), of: jose, event: event)
                #expect(claimed.takenFromUserID == eve.description)
                #expect(claimed.alsoTakenFromUserIds == [mallory.description])
            }
            #expect(
                try await service.toldInFull().suffix(2) == [
                    "claimed 1 \(jose) proven from \(eve)", "claimed 1 \(jose) proven from \(mallory)",
                ]
            )
            #expect(try await service.profile(eve).phoneTakenAtMs > 0)
            // Also if the user who proves the number has typed it.
            try await service.update(ana, phone: phone(2 + 1))
            try await service.update(ana, phone: phone(4))
            try await service.update(eve, phone: phone(3))
            #expect(try await service.prove(e164(3), of: eve).takenFromUserID == ana.description)
            #expect(try await service.toldInFull().last == "claimed 3 \(eve) proven from \(ana)")
            // A user's own number is taken from nobody else.
            try await service.update(ana, phone: phone(5))
            try await service.update(ana, phone: phone(4))
            #expect(try await service.prove(e164(4), of: ana).takenFromUserID.isEmpty)
        }
    }

    @Test func `A number that an operator released counts as given up, and a closed account's doesn't`() async throws {
        try await ProfileFixture.run(limits: Self.waiting) { service in
            let (mallory, eve, maria, jose) = (someone(), someone(), someone(), someone())
            try await service.update(mallory, phone: phone(1))
            try await service.update(eve, phone: phone(2))
            try await service.prove(e164(3), of: maria)
            for user in [mallory, maria] {
                _ = try await service.client.releasePhone(.with { $0.userID = user.description })
            }
            _ = try await service.client.closeAccount(.with { $0.userID = eve.description })
            #expect(try await service.prove(e164(1), of: jose).takenFromUserID == mallory.description)
            #expect(try await service.prove(e164(2), of: jose).takenFromUserID.isEmpty)
            #expect(try await service.prove(e164(3), of: jose).takenFromUserID.isEmpty)
        }
    }

    @Test func `A number that is given up for a proven one waits like any other`() async throws {
        try await ProfileFixture.run(limits: Self.waiting) { service in
            let (maria, jose, ana) = (someone(), someone(), someone())
            try await service.update(maria, phone: phone(1))
            try await service.prove(e164(2), of: maria)
            #expect(try await failure { try await service.update(jose, phone: phone(1)) }.reason == "PHONE_TAKEN")
            try await service.prove(e164(3), of: maria)
            #expect(try await failure { try await service.update(jose, phone: phone(2)) }.reason == "PHONE_TAKEN")
            #expect(try await service.prove(e164(1), of: ana).takenFromUserID == maria.description)
            #expect(try await service.prove(e164(2), of: ana).takenFromUserID.isEmpty, "it had been proven")
            service.clock.advance(milliseconds: Self.day)
            try await service.update(jose, phone: phone(1))
        }
    }

    // MARK: - Imports

    private func bring(_ user: UserID, _ number: Int, _ service: ProfileFixture) async throws -> ImportedProfiles {
        let row = ProfileStream.Row(
            line: 2,
            oldID: "old",
            userID: user,
            displayName: nil,
            username: nil,
            phone: PhoneNumber(stored: digits(number))
        )
        return try await service.parts.methods.store.importProfiles(
            [row],
            ([UInt8](repeating: 1, count: 32), try #require(ImportPosition("1:1:1:0"))),
            nowMilliseconds: service.clock.clock.nowMilliseconds
        ) { _ in }
    }

    @Test func `An imported account takes them like a proof`() async throws {
        try await ProfileFixture.run(limits: Self.waiting) { service in
            let (mallory, maria) = (someone(), someone())
            try await service.update(mallory, phone: phone(1))
            try await service.update(mallory, phone: phone(2))
            #expect(try await bring(maria, 1, service).applied == 1)
            #expect(try await service.toldInFull().last == "claimed 1 \(maria) proven from \(mallory)")
            #expect(try await service.profile(maria).phoneProven)
        }
    }

    @Test func `So does an import during which the number is typed and given up`() async throws {
        try await ProfileFixture.run(limits: Self.waiting) { service in
            let (mallory, maria) = (someone(), someone())
            try await service.update(maria, displayName: "Maria")
            let (isHeld, tell) = AsyncStream.makeStream(of: Void.self)
            async let holding: Void = service.database.withTransaction(deadline: .after(.seconds(60))) { transaction in
                defer { tell.finish() }
                try await transaction.query("SELECT FROM profiles WHERE user_id = \(maria.uuid) FOR UPDATE")
                tell.finish()
                // The import has read the number, and waits for the profile.
                try await service.database.waitForLockWaits()
                try await service.update(mallory, phone: phone(1))
                try await service.update(mallory, phone: phone(2))
            }
            for await _ in isHeld {}
            #expect(try await bring(maria, 1, service).applied == 1)
            try await holding
            #expect(try await service.toldInFull().last == "claimed 1 \(maria) proven from \(mallory)")
        }
    }

    @Test(.waitsByLocksAlone)
    func `A proof concurrent to giving the number up takes it from the user who gave it up`() async throws {
        try await ProfileFixture.run(limits: Self.waiting) { service in
            let (mallory, jose) = (someone(), someone())
            try await service.update(mallory, phone: phone(1))
            let (isHeld, tell) = AsyncStream.makeStream(of: Void.self)
            async let holding: Void = service.database.withTransaction(deadline: .after(.seconds(60))) { transaction in
                defer { tell.finish() }
                // As a save does that removes the number.
                try await transaction.query("SELECT FROM profiles WHERE user_id = \(mallory.uuid) FOR UPDATE")
                try await transaction.execute(
                    """
                    WITH freed AS (DELETE FROM phones WHERE user_id = \(mallory.uuid)), cooling AS (
                        INSERT INTO phone_cool_downs (phone, user_id, until, was_proven)
                        VALUES (\(digits(1)), \(mallory.uuid), \(PostgresTimestamp(milliseconds: service.clock.clock.nowMilliseconds)), false)
                    )
                    UPDATE profiles SET phone = NULL WHERE user_id = \(mallory.uuid)
                    """
                )
                tell.finish()
                try await service.database.waitForLockWaits()
            }
            for await _ in isHeld {}
            #expect(try await service.prove(e164(1), of: jose).takenFromUserID == mallory.description)
            try await holding
            #expect(try await service.toldInFull().last == "claimed 1 \(jose) proven from \(mallory)")
        }
    }
}
