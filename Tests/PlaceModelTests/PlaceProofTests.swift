import InvitesDomain
import Models
import Postgres
import Testing

/// Proves that the histories can fail: each kind of fault, made by hand, is reported as that kind.
struct PlaceProofTests {
    /// A change of the tables that the model doesn't know, and the kind of difference it must be reported as.
    struct Fault: Sendable, CustomTestStringConvertible {
        let kind: PlaceDifference.Kind
        let sql: String
        var testDescription: String { kind.rawValue }
    }

    static let faults = [
        Fault(kind: .lost, sql: "DELETE FROM members WHERE user_id IS NULL"),
        Fault(kind: .lost, sql: "DELETE FROM members WHERE user_id IS NOT NULL AND phone IS NOT NULL"),
        Fault(
            kind: .doubled,
            sql: """
                INSERT INTO members (group_id, member_id, phone, added_by, added_at)
                SELECT group_id, gen_random_uuid(), phone, added_by, added_at FROM members
                WHERE user_id IS NOT NULL AND phone IS NOT NULL
                """
        ),
        Fault(
            kind: .wronglySeated,
            sql: "UPDATE members SET user_id = gen_random_uuid() WHERE user_id IS NOT NULL AND phone IS NOT NULL"
        ),
        Fault(kind: .other, sql: "UPDATE members SET unconfirmed_at = now() WHERE phone IS NOT NULL"),
        Fault(kind: .other, sql: "UPDATE quotas SET count = count + 1 WHERE kind = 'adds'"),
        Fault(kind: .other, sql: "DELETE FROM work WHERE queue = 'events'"),
    ]

    @Test func `A place that is lost, doubled or another user's is reported as such`() async throws {
        try await PlaceServices.run { services in
            for (index, fault) in Self.faults.enumerated() {
                var history = PlaceHistory(seed: 1, first: 8 * index, services)
                let group = try await Self.settledGroup(in: &history)
                try await services.places.database.execute(Query(unsafeSQL: fault.sql))
                let owner = history.users[0]
                let found = await #expect(throws: PlaceViolation.self) {
                    try await history.round([.change(group, name: "Bikers", openness: nil, by: owner)], [])
                }
                #expect(found?.differences.contains { $0.kind == fault.kind } == true, "\(fault.sql): \(found)")
            }
        }
    }

    /// A group with its owner, a member who joined by a number, and a pending number.
    private static func settledGroup(in history: inout PlaceHistory) async throws -> GroupID {
        let (owner, guest) = (history.users[0], history.users[1])
        let group = history.services.identifiers.make(GroupID.self)
        history.scope.groups.append(group)
        let new = NewPlace(
            groupID: group,
            memberID: history.services.identifiers.make(),
            name: "Hikers",
            openness: .open,
            ownerID: owner,
            key: nil
        )
        let people = history.phones.prefix(2).map { phone in
            NewPerson(phone: phone, name: "Ana", id: history.services.identifiers.make())
        }
        try await history.round([.create(new)], [.save(guest, phone: history.phones[0])])
        try await history.round([.apply(try #require(history.nextEvents()))], [])
        try await history.round([.add(people, to: group, by: owner)], [])
        #expect(history.places.groups[group]?.member(guest) != nil)
        #expect(history.places.groups[group]?.waiting(history.phones[1].digits) != nil)
        return group
    }

    @Test func `Answers that no order of concurrent operations explains are rejected`() {
        let owner = UserID(high: 1, low: 1)
        let id = GroupID(high: 2, low: 2)
        var row = PlaceRow(id: MemberID(high: 3, low: 3), addedBy: owner, addedAt: 0)
        row.userID = owner
        var start = PlaceState()
        start.groups[id] = PlaceGroup(
            name: "Hikers",
            ownerID: owner,
            createdBy: owner,
            openness: .open,
            createdAt: 0,
            rows: [row.id: row]
        )
        let explanation = Explanation<PlaceState, PlaceOperation, PlaceAnswer>(
            perform: { $0.perform($1, PlaceRules(), 1) },
            isSame: { $0.isSame(as: $1, isAlone: false) },
            match: { $0.groups.isEmpty ? $0 : nil }
        )
        let deleted = (PlaceOperation.delete(id, by: owner), PlaceAnswer.done)
        let renaming = PlaceOperation.change(id, name: "Bikers", openness: nil, by: owner)
        var renamed = start
        let name = renamed.perform(renaming, PlaceRules(), 1)
        #expect(explanation.find(start, [deleted, (renaming, name)]) != nil)
        #expect(explanation.find(start, [deleted, (renaming, .fault(.notAMember))]) != nil)
        #expect(explanation.find(start, [deleted, (renaming, .fault(.roleInsufficient))]) == nil)
        #expect(explanation.find(start, [(renaming, name)]) == nil, "the group should be gone")
    }
}
