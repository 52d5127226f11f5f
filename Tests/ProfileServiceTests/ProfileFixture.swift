import API
import Dispatch
import Logging
import Models
import Postgres
import ProfileDomain
import RPC
import RPCTransport
import ServiceKit
import ServiceModels
import ServiceStore
import Synchronization
import TestDatabases
import Testing

@testable import ProfileService

/// A clock that stands still until a test moves it.
final class SettableClock: Sendable {
    private let milliseconds = Mutex<Int64>(1_700_000_000_000)

    var clock: WallClock { WallClock { self.milliseconds.withLock { $0 } } }

    func advance(milliseconds step: Int64) { milliseconds.withLock { $0 += step } }
}

/// The profile service on a database of its own, called without sockets.
struct ProfileFixture: Sendable {
    let client: ProfileServiceClient
    let parts: ProfileParts
    let database: PostgresClient
    let facts: TestDatabase
    let invites: RecordingInvites
    let identity: ClosedAccounts
    let clock: SettableClock

    /// Runs a test on a fresh database of the shared cluster.
    static func run(
        tryLimit: TryLimit = TryLimit(),
        limits: ProfileLimits? = nil,
        required: RequiredFields = .standard,
        _ body: (ProfileFixture) async throws -> Void
    ) async throws {
        try await TestDatabase.withMigrated(ProfileMigrations.all, schema: "profile") { facts in
            try await run(
                on: facts,
                tryLimit: tryLimit,
                limits: limits,
                required: required,
                body
            )
        }
    }

    /// Runs a test on a database.
    static func run(
        on facts: TestDatabase,
        tryLimit: TryLimit = TryLimit(),
        limits: ProfileLimits? = nil,
        required: RequiredFields = .standard,
        waitLimit: Duration = .seconds(60),
        lockTimeout: Duration = .seconds(60),
        _ body: (ProfileFixture) async throws -> Void
    ) async throws {
        var configuration = facts.configuration
        configuration.waitLimit = waitLimit
        configuration.lockTimeout = lockTimeout
        // As in a deployment: the service itself may change rows and nothing else.
        try await Migrator(facts.ownerConfiguration).run(ProfileMigrations.all, schema: facts.schema)
        let group = try EventLoopGroup(loopCount: 2, name: "test")
        let database = PostgresClient(configuration, group: group)
        let clock = SettableClock()
        let invites = RecordingInvites()
        let identity = ClosedAccounts()
        let parts = ProfileParts(
            settings: ProfileSettings(
                limits: limits
                    ?? ProfileLimits(
                        tries: tryLimit,
                        claims: TryLimit(triesMax: 1_000_000, windowMilliseconds: 1_000),
                        // Most tests are of other things than who waits for a number that somebody gave up.
                        coolDownMilliseconds: 0
                    ),
                requiredFields: required,
                addressKey: ClientAddressKey(Secret([UInt8](repeating: 7, count: 32)), service: "profile"),
                callers: ProvenCallers(service: "profile", keys: [proofKey].compactMap { $0 }),
                identityAddress: try #require(AddressList("127.0.0.1:7001")),
                invitesAddress: try #require(AddressList("127.0.0.1:7003"))
            ),
            database: database,
            group: group,
            identity: IdentityServiceClient(InProcessChannel(Router(identity))),
            invites: InvitesServiceClient(InProcessChannel(Router(invites))),
            clock: clock.clock,
            logger: Logger(label: "test")
        )
        let fixture = ProfileFixture(
            client: ProfileServiceClient(InProcessChannel(Router(parts.methods))),
            parts: parts,
            database: database,
            facts: facts,
            invites: invites,
            identity: identity,
            clock: clock
        )
        let result: Result<Void, any Error>
        do { result = .success(try await body(fixture)) } catch { result = .failure(error) }
        await database.shutdown()
        await group.shutdown()
        try result.get()
    }

    /// Delivers phone events beside a body, and stops after it.
    func relaying(_ body: () async throws -> Void) async throws {
        let task = Task { try await parts.phoneEvents.run() }
        let result: Result<Void, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        task.cancel()
        try await task.value
        try result.get()
    }

    /// Saves fields of a user's profile.
    @discardableResult
    func update(
        _ userID: UserID,
        displayName: String? = nil,
        phone: String? = nil,
        username: String? = nil,
        from address: String? = nil
    ) async throws(RPCError) -> ProfileV1.Profile {
        var request = ProfileV1.UpdateProfileRequest()
        if let displayName { request.displayName = displayName }
        if let phone { request.phoneNumber = phone }
        if let username { request.username = username }
        var options = options(for: userID)
        if let address { options.metadata.add(ClientAddressKey.metadataName, address) }
        return try await client.updateProfile(request, options: options).profile
    }

    /// Whether a username is free, for a user or for somebody new.
    func isFree(_ username: String, for userID: UserID? = nil) async throws(RPCError) -> Bool {
        var request = ProfileV1.CheckUsernameRequest()
        request.username = username
        return try await client.checkUsername(request, options: userID.map(options) ?? CallOptions()).isFree
    }

    func profile(_ userID: UserID) async throws -> ProfileV1.Profile {
        try await client.getProfile(.init(), options: options(for: userID)).profile
    }

    /// The service's key of proofs.
    static let proofKey = CallerProofKey(master: [UInt8](repeating: 5, count: 32), service: "profile")

    /// What a gateway calls the service with on behalf of a user.
    func options(for userID: UserID) -> CallOptions {
        let minute = CallerProof.minute(madeAtMilliseconds: clock.clock.nowMilliseconds)
        let proof = CallerProof(userID: userID, sessionID: nil, minute: minute)
        var options = CallOptions()
        if let key = Self.proofKey {
            options.metadata.add(CallerProofKey.metadataName, proof.text(under: key, for: "profile"))
        }
        return options
    }

    /// The events that wait, oldest first, as `kind phone user`.
    func waitingEvents() async throws -> [String] {
        try await database.query(
            """
            SELECT concat_ws(' ', data ->> 'kind', key, user_id) FROM work
            WHERE queue = 'phone_events' AND parked_at IS NULL ORDER BY id
            """
        ).map { try $0.decode(0, as: String.self) }
    }

    /// The table of work.
    var workTable: WorkTable { WorkTable(database) { [clock] in clock.clock.nowMilliseconds } }

    /// Parks the oldest event that waits, and returns the names of those that are parked.
    @discardableResult
    func parkOldest() async throws -> [WorkName] {
        try await database.execute(
            """
            UPDATE work SET parked_at = now(), failure = 'BAD', tries = 1
            WHERE id = (SELECT min(id) FROM work WHERE queue = 'phone_events' AND parked_at IS NULL)
            """
        )
        let rows = try await database.query("SELECT id FROM work WHERE parked_at IS NOT NULL ORDER BY id")
        return try rows.map { .number(try $0.decode(0)) }
    }

    /// Lists held work.
    func heldWork(showsNumbers: Bool = false) async throws -> [String] {
        try await work(.list(queue: nil, includesWaiting: false, limit: 10, showsNumbers: showsNumbers))
    }

    /// What `profile work` prints.
    @discardableResult
    func work(_ command: WorkCommand) async throws -> [String] {
        try await WorkAdmin.profile(database, clock: clock.clock).run(command)
    }

    func count(_ sql: String) async throws -> Int64 {
        try await database.query(Query(unsafeSQL: sql))[0].decode(0, as: Int64.self)
    }

}

extension Router {
    /// A router of one service.
    init(_ service: any RPCService) {
        self.init()
        service.register(in: &self)
    }
}

private let identifiers = IdentifierSource()

/// A user whom no other test knows.
func someone() -> UserID { identifiers.make() }

/// A Philippine mobile number for a small number, as people write it, and as it is stored.
func phone(_ number: Int) -> String { "0917\(1_000_000 + number)" }
func digits(_ number: Int) -> String { "63917\(1_000_000 + number)" }

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
