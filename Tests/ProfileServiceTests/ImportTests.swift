import API
import AccountImport
import Models
import Postgres
import ProfileDomain
import RPC
import ServiceModels
import SwiftProtobuf
import Synchronization
import Testing

@testable import ProfileService

/// How profile imports accounts.
@Suite(.serialized) struct ImportTests {
    private let identifiers = IdentifierSource()
    private static let digest = [UInt8](repeating: 1, count: 32)

    private func row(
        _ user: UserID,
        _ line: Int64 = 2,
        name: String? = nil,
        phone number: Int? = nil,
        username: String? = nil
    ) throws -> ProfileStream.Row {
        ProfileStream.Row(
            line: line,
            oldID: "old-\(line)",
            userID: user,
            displayName: try name.map { try DisplayName($0) },
            username: try username.map { try Username($0) },
            phone: number.flatMap { PhoneNumber(stored: digits($0)) }
        )
    }

    private func bring(
        _ rows: [ProfileStream.Row],
        position: String = "100:7:7:0",
        _ service: ProfileFixture
    ) async throws -> (outcome: ImportedProfiles, told: [String]) {
        let told = Mutex<[String]>([])
        let outcome = try await service.parts.methods.store.importProfiles(
            rows,
            (Self.digest, try #require(ImportPosition(position))),
            nowMilliseconds: service.clock.clock.nowMilliseconds
        ) { rejections in
            told.withLock { $0 = rejections.map { "\($0.row.line) \($0.reason)" } }
        }
        return (outcome, told.withLock { $0 })
    }

    @Test func `Names and numbers are imported, the numbers as proven, and invites gets events`() async throws {
        try await ProfileFixture.run { service in
            let (maria, jose) = (someone(), someone())
            let rows = [
                try row(maria, name: "Maria", phone: 1, username: "maria_s"), try row(jose, 3, name: "Jose", phone: 2),
            ]
            let first = try await bring(rows, service)
            #expect(first.outcome.applied == 2 && first.told.isEmpty)
            let profile = try await service.profile(maria)
            #expect(profile.displayName == "Maria" && profile.username == "maria_s" && profile.phoneProven)
            #expect(profile.phoneNumber == "+\(digits(1))" && profile.missingFields.isEmpty && profile.revision == 1)
            let told = ["claimed 1 \(maria) proven", "claimed 2 \(jose) proven"]
            #expect(try await service.toldInFull() == told)
            #expect(try await service.count("SELECT count(*) FROM phones WHERE proof = 'import'") == 2)
            let store = service.parts.methods.store
            #expect(try await store.importPosition(of: Self.digest)?.description == "100:7:7:0")
            // Again: what the users have chosen since stays.
            try await service.update(maria, displayName: "Maria Santos", phone: phone(3))
            let again = try await bring(rows, position: "200:9:9:0", service)
            #expect(again.outcome.applied == 0 && again.outcome.there == 2 && again.told.isEmpty)
            #expect(try await service.profile(maria).displayName == "Maria Santos")
            #expect(try await service.profile(maria).phoneNumber == "+\(digits(3))")
            #expect(try await service.toldInFull().count == 4, "and there are no further events")
            #expect(try await store.importPosition(of: Self.digest)?.description == "200:9:9:0")
            try await store.endImport(Self.digest, nowMilliseconds: 0)
            #expect(try await store.importPosition(of: Self.digest) == nil)
        }
    }

    @Test func `A typed number is taken from the user who typed it, and a proven one stays`() async throws {
        try await ProfileFixture.run { service in
            let (mallory, ana, maria, jose) = (someone(), someone(), someone(), someone())
            try await service.update(mallory, phone: phone(1))
            _ = try await service.parts.methods.store.claimProven(
                ProvenPhone(
                    eventID: identifiers.make(),
                    userID: ana,
                    phone: try #require(PhoneNumber(stored: digits(2))),
                    proof: .provider
                ),
                judgement: nil,
                nowMilliseconds: 1,
                deadline: nil
            )
            let rows = [try row(maria, name: "Maria", phone: 1), try row(jose, 3, name: "Jose", phone: 2)]
            let first = try await bring(rows, service)
            #expect(first.outcome.applied == 1 && first.told == ["3 phone_taken"])
            #expect(try await service.profile(maria).phoneProven)
            #expect(try await service.profile(mallory).phoneNumber.isEmpty)
            let left = try await service.profile(jose)
            #expect(left.displayName == "Jose" && left.phoneNumber.isEmpty)
            #expect(try await service.toldInFull().last == "claimed 1 \(maria) proven from \(mallory)")
            // An operator takes it from the wrong user: then it is imported.
            _ = try await service.client.releasePhone(.with { $0.userID = ana.description })
            #expect(try await bring(rows, service).outcome.applied == 1)
            #expect(try await service.profile(jose).phoneNumber == "+\(digits(2))")
        }
    }

    @Test func `Conflicts in the file, closed accounts and usernames in use are reported`() async throws {
        try await ProfileFixture.run { service in
            let (maria, jose, gone, ana) = (someone(), someone(), someone(), someone())
            try await service.update(ana, username: "taken")
            try await service.database.execute(
                "INSERT INTO closed_accounts (user_id, closed_at) VALUES (\(gone.uuid), now())"
            )
            let rows = [
                try row(maria, phone: 1, username: "same"), try row(jose, 3, phone: 1, username: "SAME"),
                try row(gone, 4, name: "Gone", phone: 4), try row(ana, 5, name: "Ana", username: "other"),
                try row(someone(), 6, username: "Taken"), try row(someone(), 7, username: "admin"),
            ]
            let dry = try await service.parts.methods.store.wouldImport(rows)
            #expect(
                dry.rejections.map { "\($0.row.line) \($0.reason)" }
                    == ["3 phone_taken", "3 username_taken", "6 username_taken", "7 username_taken"]
            )
            #expect(try await service.count("SELECT count(*) FROM profiles") == 1)
            let told = try await bring(rows, service).told
            #expect(
                told == [
                    "4 account_closed", "3 phone_taken", "3 username_taken", "6 username_taken", "7 username_taken",
                ]
            )
            #expect(try await service.profile(ana).username == "taken")
            #expect(try await service.profile(ana).displayName == "Ana")
            #expect(try await service.count("SELECT count(*) FROM profiles WHERE user_id = '\(gone)'") == 0)
        }
    }

    @Test func `A batch whose events can't be written is rolled back`() async throws {
        struct Full: Error {}
        try await ProfileFixture.run { service in
            let maria = someone()
            let position = try #require(ImportPosition("1:1:1:0"))
            let rows = [try row(maria, name: "Maria", phone: 1)]
            await #expect(throws: Full.self) {
                _ = try await service.parts.methods.store.importProfiles(
                    rows,
                    (Self.digest, position),
                    nowMilliseconds: 1
                ) { _ in throw Full() }
            }
            for table in ["profiles", "phones", "work", "account_imports"] {
                #expect(try await service.count("SELECT count(*) FROM \(table)") == 0)
            }
        }
    }

    @Test func `Concurrent imports and saves of the same numbers leave no partial state`() async throws {
        try await ProfileFixture.run { service in
            let users = (0..<40).map { _ in someone() }
            let rows = try users.enumerated().map { try row($1, Int64($0) + 2, name: "Person", phone: $0) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<40 {
                    group.addTask { _ = try? await service.update(someone(), phone: phone(39 - index)) }
                }
                for _ in 0..<2 { group.addTask { _ = try await bring(rows, service) } }
                try await group.waitForAll()
            }
            _ = try await bring(rows, service)
            for (index, user) in users.enumerated() {
                #expect(try await service.profile(user).phoneNumber == "+\(digits(index))")
            }
            #expect(try await service.count("SELECT count(*) FROM phones WHERE proof = 'import'") == 40)
            let wrong = """
                SELECT count(*) FROM profiles p FULL JOIN phones h ON h.user_id = p.user_id
                WHERE p.phone IS DISTINCT FROM h.phone
                """
            #expect(try await service.count(wrong) == 0)
            // The last event of each number has its owner.
            let last =
                """
                SELECT count(DISTINCT key) FROM work w WHERE queue = 'phone_events' AND (data ->> 'is_proven')::boolean
                    AND id = (SELECT max(id) FROM work WHERE key = w.key)
                """
            #expect(try await service.count(last) == 40)
        }
    }
}
