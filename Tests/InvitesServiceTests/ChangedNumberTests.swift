import API
import Models
import Postgres
import ServiceModels
import TestDatabases
import Testing

@testable import InvitesService

/// Calls that look up a user's numbers while they change.
struct ChangedNumberTests {
    @Test(.waitsByLocksAlone)
    func `A user who unblocks during a change of number joins the group that awaits the new one`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose) = (someone(), someone())
            let group = try await service.group(by: maria)
            try await service.apply(claimed(1, by: jose))
            try await service.block(maria, by: jose)
            try await service.add(phone(2), to: group, by: maria)
            try await changing(jose, from: 1, to: 2, service) { try await service.unblock(maria, by: jose) }
            let members = try await service.members(of: group, askedBy: maria).members
            #expect(members.map(\.userID) == [maria.description, jose.description])
        }
    }

    @Test(.waitsByLocksAlone)

    func `A user who joins by a link during a change of number takes the place that awaits the new one`()
        async throws
    {
        try await InvitesFixture.run { service in
            let (maria, jose) = (someone(), someone())
            let group = try await service.group(.consent, by: maria).groupID
            try await service.apply(claimed(1, by: jose))
            let awaited = try await service.add(phone(2), to: group, by: maria).memberID
            let token = try await service.link(to: group, by: maria).token
            try await changing(jose, from: 1, to: 2, service) { try await service.join(by: token, jose) }
            #expect(try await service.memberID(of: jose, in: group, askedBy: maria) == awaited)
            #expect(try await service.members(of: group, askedBy: maria).members.count == 2)
        }
    }

    /// Changes a user's number, as events do it, while a call waits for the old number's row.
    private func changing<Value: Sendable>(
        _ user: UserID,
        from old: Int,
        to new: Int,
        _ service: InvitesFixture,
        _ call: @escaping @Sendable () async throws -> Value
    ) async throws {
        let calling = try await service.database.withTransaction { transaction in
            try await transaction.query("SELECT FROM phones WHERE phone = \(String(e164(old).dropFirst())) FOR UPDATE")
            let calling = Task { _ = try await call() }
            try await service.database.waitForLockWaits()
            for (number, owner) in [(old, nil), (new, user.uuid)] {
                try await transaction.execute(
                    """
                    INSERT INTO phones (phone, user_id) VALUES (\(String(e164(number).dropFirst())), \(owner))
                    ON CONFLICT (phone) DO UPDATE SET user_id = excluded.user_id
                    """
                )
            }
            return calling
        }
        try await calling.value
    }
}
