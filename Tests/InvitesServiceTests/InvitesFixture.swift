import API
import Dispatch
import InvitesDomain
import Logging
import Models
import Postgres
import RPC
import RPCTransport
import ServiceKit
import ServiceModels
import Synchronization
import TestDatabases
import Testing

@testable import InvitesService

/// A clock that moves on by a millisecond with each look, so that ids sort by their making, and further when told.
final class SteppingClock: Sendable {
    private let milliseconds = Mutex<Int64>(1_700_000_000_000)

    var clock: WallClock {
        WallClock {
            self.milliseconds.withLock { now in
                now += 1
                return now
            }
        }
    }

    func advance(milliseconds step: Int64) { milliseconds.withLock { $0 += step } }
}

/// The invites service on a database of its own, called without sockets.
struct InvitesFixture: Sendable {
    /// As gateways call it for users.
    let client: GroupServiceClient
    /// As other programs call it.
    let invites: InvitesServiceClient
    let parts: InvitesParts
    let database: PostgresClient
    let identity: ListeningIdentity
    let clock: SteppingClock

    /// For tests of other things.
    static let unlimited = InvitesLimits(
        userAdds: .daily("adds", countMax: 1_000_000),
        addressAdds: .daily("adds", countMax: 1_000_000),
        userNumbers: .daily("numbers", countMax: 1_000_000),
        pendingMax: 1_000_000,
        userGroups: .daily("groups", countMax: 1_000_000),
        userGroupChanges: .daily("group changes", countMax: 1_000_000),
        groupsMax: 10_000,
        membershipsMax: 10_000,
        membersMax: 1_000
    )

    /// Runs a test on a fresh database of the shared cluster.
    static func run(
        groupMembersMax: Int = 1_000,
        limits: InvitesLimits = unlimited,
        migrations: [Migration] = InvitesMigrations.all,
        groupOpenness: GroupOpenness = .open,
        closingLimit: Duration = .seconds(600),
        _ body: (InvitesFixture) async throws -> Void
    ) async throws {
        try await TestDatabase.withMigrated(migrations, schema: "invites") { facts in
            try await run(
                on: facts,
                groupMembersMax: groupMembersMax,
                limits: limits,
                migrations: migrations,
                groupOpenness: groupOpenness,
                closingLimit: closingLimit,
                body
            )
        }
    }

    /// Runs a test on a database.
    ///
    /// - Parameter closingLimit: how long a call deletes a closed account's data. The service's own two seconds are too short for a test that
    ///   stops a call halfway on a busy machine.
    static func run(
        on facts: TestDatabase,
        groupMembersMax: Int = 1_000,
        limits: InvitesLimits = unlimited,
        migrations: [Migration] = InvitesMigrations.all,
        groupOpenness: GroupOpenness = .open,
        waitLimit: Duration = .seconds(60),
        closingLimit: Duration = .seconds(600),
        _ body: (InvitesFixture) async throws -> Void
    ) async throws {
        var configuration = facts.configuration
        configuration.waitLimit = waitLimit
        // As in a deployment: the service itself may change rows and nothing else.
        try await Migrator(facts.ownerConfiguration).run(migrations, schema: facts.schema)
        let group = try EventLoopGroup(loopCount: 2, name: "test")
        let database = PostgresClient(configuration, group: group)
        let clock = SteppingClock()
        let identity = ListeningIdentity()
        var limits = limits
        limits.membersMax = groupMembersMax
        let parts = InvitesParts(
            settings: InvitesSettings(
                limits: limits,
                groupOpenness: groupOpenness,
                addressKey: ClientAddressKey(Secret([UInt8](repeating: 7, count: 32)), service: "invites"),
                callers: ProvenCallers(
                    service: "invites",
                    keys: [proofKey].compactMap { $0 }
                ),
                cursors: try #require(CursorSeal(keys: [[UInt8](repeating: 9, count: 32)])),
                inboxRetention: .seconds(3_600),
                identityAddress: try #require(AddressList("127.0.0.1:7001"))
            ),
            database: database,
            group: group,
            identity: IdentityServiceClient(InProcessChannel(identity.router)),
            clock: clock.clock,
            closingLimit: closingLimit,
            logger: Logger(label: "test")
        )
        var router = Router()
        parts.groupMethods.register(in: &router)
        parts.methods.register(in: &router)
        let fixture = InvitesFixture(
            client: GroupServiceClient(InProcessChannel(router)),
            invites: InvitesServiceClient(InProcessChannel(router)),
            parts: parts,
            database: database,
            identity: identity,
            clock: clock
        )
        let result: Result<Void, any Error>
        do { result = .success(try await body(fixture)) } catch { result = .failure(error) }
        await database.shutdown()
        await group.shutdown()
        try result.get()
    }

    /// The service's key of proofs.
    static let proofKey = CallerProofKey(master: [UInt8](repeating: 5, count: 32), service: "invites")

    /// What a gateway calls the service with on behalf of a user, whose name it tells or not.
    func options(for user: UserID, called name: String? = nil) -> CallOptions {
        let minute = CallerProof.minute(madeAtMilliseconds: clock.clock.nowMilliseconds)
        let proof = CallerProof(userID: user, sessionID: nil, minute: minute)
        var options = CallOptions()
        if let key = Self.proofKey {
            options.metadata.add(CallerProofKey.metadataName, proof.text(under: key, for: "invites"))
        }
        if let name { options.metadata.addBinary(CallerName.metadataName, Array(name.utf8)) }
        return options
    }

    /// Creates a group and returns its id.
    func group(_ name: String = "Hikers", by user: UserID, called displayName: String = "") async throws -> String {
        var request = AppV1.CreateGroupRequest()
        request.name = name
        return try await client.createGroup(request, options: options(for: user, called: displayName)).group.groupID
    }

    /// Adds a number to a group.
    @discardableResult
    func add(
        _ phone: String,
        named name: String = "Invitee",
        to group: String,
        by user: UserID,
        from address: String? = nil
    ) async throws(RPCError) -> AppV1.Member {
        var request = AppV1.AddMemberRequest()
        request.groupID = group
        request.phoneNumber = phone
        request.displayName = name
        var options = options(for: user)
        if let address { options.metadata.add(ClientAddressKey.metadataName, address) }
        return try await client.addMember(request, options: options).member
    }

    /// A page of a group's members.
    func members(
        of group: String,
        askedBy user: UserID,
        size: Int32 = 0,
        token: String = ""
    ) async throws -> AppV1.ListMembersResponse {
        var request = AppV1.ListMembersRequest()
        request.groupID = group
        request.pageSize = size
        request.pageToken = token
        return try await client.listMembers(request, options: options(for: user))
    }

    /// A page of a user's groups.
    func groups(of user: UserID, size: Int32 = 0, token: String = "") async throws -> AppV1.ListGroupsResponse {
        var request = AppV1.ListGroupsRequest()
        request.pageSize = size
        request.pageToken = token
        return try await client.listGroups(request, options: options(for: user))
    }

    /// Applies events and tells how many members were linked.
    @discardableResult
    func apply(_ events: InvitesV1.PhoneEvent...) async throws -> Int32 { try await apply(events) }

    @discardableResult
    func apply(_ events: [InvitesV1.PhoneEvent]) async throws -> Int32 {
        var request = InvitesV1.ApplyPhoneEventsRequest()
        request.events = events
        return try await invites.applyPhoneEvents(request).linkedCount
    }

    func count(_ sql: String) async throws -> Int64 {
        try await database.query(Query(unsafeSQL: sql))[0].decode(0, as: Int64.self)
    }
}

private let identifiers = IdentifierSource()

/// A user whom no other test knows.
func someone() -> UserID { identifiers.make() }

/// A Philippine mobile number for a small number, as people write it, and as services send it.
func phone(_ number: Int) -> String { "0917\(1_000_000 + number)" }
func e164(_ number: Int) -> String { "+63917\(1_000_000 + number)" }

/// That a user took a number; by proof, so that members by it may do what tests of other things have them do.
func claimed(_ number: Int, by user: UserID, isProven: Bool = true) -> InvitesV1.PhoneEvent {
    var event = InvitesV1.PhoneEvent()
    event.eventID = identifiers.make(EventID.self).description
    event.phoneNumber = e164(number)
    event.claimed.userID = user.description
    event.claimed.isProven = isProven
    return event
}

/// That a user gave a number up.
func released(_ number: Int, by user: UserID) -> InvitesV1.PhoneEvent {
    var event = InvitesV1.PhoneEvent()
    event.eventID = identifiers.make(EventID.self).description
    event.phoneNumber = e164(number)
    event.released.userID = user.description
    return event
}

/// The error that a call ends with.
func failure<Value>(
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Value
) async throws -> RPCError {
    do {
        _ = try await body()
    } catch let error as RPCError {
        return error
    }
    return try #require(nil as RPCError?, "the call should fail", sourceLocation: sourceLocation)
}

/// Numbers that repeat from a seed (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
