import API
import Models
import Postgres
import ProfileDomain
import RPC
import ServiceKit
import ServiceModels
import ServiceStore
import SwiftProtobuf
import Synchronization
import TestDatabases
import Testing

@testable import ProfileService

/// What is told behind events of numbers that an operator has told again, or discards: who has the number now.
@Suite(.serialized) struct PhoneRestatementTests {
    /// Delivers the oldest events.
    private func deliver(_ service: ProfileFixture, limit: Int64 = 100) async throws {
        try await service.database.execute(
            """
            DELETE FROM work WHERE id IN (
                SELECT id FROM work WHERE queue = 'phone_events' AND parked_at IS NULL ORDER BY id LIMIT \(limit))
            """
        )
    }

    @Test func `A number that somebody takes at that moment is told as theirs in the end`() async throws {
        try await ProfileFixture.run(required: RequiredFields([])) { service in
            let maria = someone()
            try await service.update(maria, phone: phone(1))
            try await deliver(service)
            try await service.update(maria, phone: "")
            _ = try await service.parkOldest()
            let (isHeld, tell) = AsyncStream.makeStream(of: Void.self)
            let isReleased = Mutex(false)
            async let claiming: Void = service.database.withTransaction(deadline: .after(.seconds(60))) { transaction in
                defer { tell.finish() }
                // What a save does that takes the number again.
                try await transaction.execute(
                    """
                    WITH taken AS (
                        INSERT INTO phones (phone, user_id, claimed_at) VALUES (\(digits(1)), \(maria.uuid), now())
                    )
                    INSERT INTO work (queue, event_id, key, user_id, created_at, data)
                    VALUES ('phone_events', gen_random_uuid(), \(digits(1)), \(maria.uuid), now(), '{"kind": "claimed"}')
                    """
                )
                tell.finish()
                try await service.database.waitForLockWaits(orUntil: { isReleased.withLock { $0 } })
            }
            for await _ in isHeld {}
            #expect(try await service.work(.retry(.all)) == ["1 will be retried"])
            isReleased.withLock { $0 = true }
            try await claiming
            #expect(
                try await service.toldInFull() == ["released 1 \(maria)", "claimed 1 \(maria)", "claimed 1 \(maria)"]
            )
        }
    }

    @Test func `Whoever takes a number while it is told that nobody has it comes behind that`() async throws {
        try await ProfileFixture.run(required: RequiredFields([])) { service in
            let maria = someone()
            try await service.update(maria, phone: phone(1))
            try await service.update(maria, phone: "")
            try await deliver(service, limit: 1)
            _ = try await service.parkOldest()
            let (isHeld, tell) = AsyncStream.makeStream(of: Void.self)
            async let holding: Void = service.database.withTransaction(deadline: .after(.seconds(60))) { transaction in
                defer { tell.finish() }
                // What is to be told can't be written down for a moment, nor what the save says.
                try await transaction.execute("LOCK TABLE work IN SHARE MODE")
                tell.finish()
                try await service.database.waitForLockWaits(at: "WITH free AS")
                try await service.database.waitForLockWaits(
                    at: "INSERT INTO phones (phone, user_id, claimed_at) SELECT"
                )
            }
            for await _ in isHeld {}
            async let released = service.work(.retry(.all))
            try await service.database.waitForLockWaits(at: "WITH free AS")
            try await service.update(maria, phone: phone(1))
            #expect(try await released == ["1 will be retried"])
            try await holding
            #expect(
                try await service.toldInFull() == ["released 1 \(maria)", "released 1 \(maria)", "claimed 1 \(maria)"]
            )
        }
    }

    @Test func `Nothing of it stays with a number that nobody has`() async throws {
        try await ProfileFixture.run(required: RequiredFields([])) { service in
            let (maria, jose) = (someone(), someone())
            try await service.update(maria, phone: phone(1))
            try await service.update(maria, phone: "")
            _ = try await service.parkOldest()
            #expect(try await service.work(.retry(.all)) == ["1 will be retried"])
            #expect(try await service.count("SELECT count(*) FROM phones") == 0)
            try await service.update(jose, phone: phone(1))
            #expect(
                try await service.toldInFull() == [
                    "claimed 1 \(maria)", "released 1 \(maria)", "released 1 \(maria)", "claimed 1 \(jose)",
                ]
            )
        }
    }

    @Test func `A discarded release is made good`() async throws {
        try await ProfileFixture.run(required: RequiredFields([])) { service in
            let (maria, jose) = (someone(), someone())
            try await service.update(maria, phone: phone(1))
            try await service.update(jose, phone: phone(2))
            try await deliver(service)
            try await service.update(maria, phone: "")
            let release = try await service.parkOldest()
            #expect(try await service.work(.discard(release)) == ["1 discarded"])
            #expect(try await service.toldInFull() == ["released 1 \(maria)"])
            try await deliver(service)
            // Of a closed account it stays one.
            _ = try await service.client.closeAccount(.with { $0.userID = jose.description })
            let closing = try await service.parkOldest()
            #expect(try await service.work(.discard(closing)) == ["1 discarded"])
            #expect(try await service.toldInFull() == ["released 2 \(jose)"])
            #expect(try await service.count("SELECT count(*) FROM work WHERE (data ->> 'by_deletion')::boolean") == 1)
        }
    }

    @Test func `A discarded claim is made good, with whom a proof took the number from`() async throws {
        try await ProfileFixture.run { service in
            let (mallory, jose, ana) = (someone(), someone(), someone())
            try await service.update(mallory, phone: phone(1))
            try await deliver(service)
            try await service.prove(e164(1), of: jose)
            let claim = try await service.parkOldest()
            #expect(try await service.work(.discard(claim)) == ["1 discarded"])
            #expect(try await service.toldInFull() == ["claimed 1 \(jose) proven from \(mallory)"])
            // Nobody has it any more: whoever invites may think has it is told of.
            let again = try await service.parkOldest()
            _ = try await service.client.releasePhone(.with { $0.userID = jose.description })
            #expect(try await service.work(.discard(again)) == ["1 discarded"])
            let told = try await service.toldInFull()
            #expect(told.first == "released 1 \(jose)")
            #expect(Set(told.dropFirst()) == ["released 1 \(jose)", "released 1 \(mallory)"] && told.count == 3)
            // Or somebody else has: the proof was another's.
            try await deliver(service)
            try await service.prove(e164(1), of: jose)
            let last = try await service.parkOldest()
            _ = try await service.client.releasePhone(.with { $0.userID = jose.description })
            try await service.update(ana, phone: phone(1))
            #expect(try await service.work(.discard(last)) == ["1 discarded"])
            #expect(try await service.toldInFull().last == "claimed 1 \(ana)")
        }
    }

    @Test func `Only parked events are discarded`() async throws {
        try await ProfileFixture.run { service in
            try await service.update(someone(), phone: phone(1))
            let rows = try await service.database.query("SELECT id FROM work")
            let name = WorkName.number(try rows[0].decode(0))
            await #expect(throws: WorkCommandError.self) { try await service.work(.discard([name])) }
            #expect(try await service.toldInFull().count == 1)
        }
    }
}
