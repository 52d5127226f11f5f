import API
import Logging
import Models
import Postgres
import ProfileDomain
import RPC
import RPCTransport
import ServiceKit
import ServiceModels
import ServiceStore
import SwiftProtobuf
import Synchronization
import TestDatabases
import TestWaits
import Testing

@testable import InvitesService
@testable import ProfileService

/// Real phone events against the real invites service, over a way between them that loses questions and answers.
@Suite(.serialized) struct PhoneEventsToInvitesTests {
    @Test(arguments: [1, 2, 3] as [UInt64])
    func `Whatever answers are lost, invites ends with profile's state`(seed: UInt64) async throws {
        try await ProfileFixture.run(tryLimit: TryLimit(triesMax: 1_000, windowMilliseconds: 1_000)) { profile in
            try await withInvites { invites, database in
                let channel = LossyChannel(invites, seed: seed)
                let relays = (0..<2).map { _ in relay(profile, over: InvitesServiceClient(channel)) }
                let tasks = relays.map { relay in Task { try await relay.run() } }
                let group = try await makeGroup(of: GroupServiceClient(invites))

                try await saveAndInvite(profile, GroupServiceClient(invites), group, seed: seed)
                try await eventually("nothing waits") { try await profile.waitingEvents().isEmpty }
                for task in tasks { task.cancel() }
                for task in tasks { try await task.value }

                #expect(channel.lossCount > 0, "the way was lossy")
                let owners = try await self.owners(profile.database, "SELECT phone, user_id::text FROM phones")
                let known = try await self.owners(
                    database,
                    "SELECT phone, user_id::text FROM phones WHERE user_id IS NOT NULL"
                )
                #expect(known == owners)
                let doubled = try await database.query(
                    """
                    SELECT 1 FROM members GROUP BY group_id, coalesce(user_id::text, phone) HAVING count(*) > 1
                    UNION ALL
                    SELECT 1 FROM members m JOIN phones p ON p.phone = m.phone
                    WHERE m.user_id IS NULL AND p.user_id IS NOT NULL
                    """
                )
                #expect(doubled.isEmpty, "nobody is in the group twice, and nobody waits for a number that is taken")
            }
        }
    }

    // MARK: - Parts

    private static let maria = someone()
    private static let proofKey = CallerProofKey(master: [UInt8](repeating: 5, count: 32), service: "invites")

    /// What a gateway calls invites with on behalf of Maria.
    private static var asMaria: CallOptions {
        let minute = CallerProof.minute(madeAtMilliseconds: WallClock.system.nowMilliseconds)
        let proof = CallerProof(userID: maria, sessionID: nil, minute: minute)
        var options = CallOptions()
        if let proofKey {
            options.metadata.add(CallerProofKey.metadataName, proof.text(under: proofKey, for: "invites"))
        }
        return options
    }

    private func withInvites(_ body: (InProcessChannel, PostgresClient) async throws -> Void) async throws {
        try await TestDatabase.withMigrated(InvitesMigrations.all, schema: "invites") { facts in
            try await Self.withInvites(on: facts, body)
        }
    }

    private static func withInvites(
        on facts: TestDatabase,
        _ body: (InProcessChannel, PostgresClient) async throws -> Void
    ) async throws {
        let group = try EventLoopGroup(loopCount: 1, name: "invites")
        let database = PostgresClient(facts.configuration, group: group)
        let parts = InvitesParts(
            settings: InvitesSettings(
                addressKey: ClientAddressKey(Secret([UInt8](repeating: 7, count: 32)), service: "invites"),
                callers: ProvenCallers(service: "invites", keys: [Self.proofKey].compactMap { $0 }),
                cursors: try #require(CursorSeal(keys: [[UInt8](repeating: 9, count: 32)])),
                identityAddress: try #require(AddressList("127.0.0.1:7001"))
            ),
            database: database,
            group: group,
            identity: IdentityServiceClient(InProcessChannel(Router(ClosedAccounts()))),
            logger: Logger(label: "test")
        )
        var router = Router(parts.methods)
        parts.groupMethods.register(in: &router)
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(InProcessChannel(router), database))
        } catch {
            result = .failure(error)
        }
        await database.shutdown()
        await group.shutdown()
        try result.get()
    }

    private func relay(_ profile: ProfileFixture, over invites: InvitesServiceClient) -> WorkRunner<PhoneEventWork> {
        let kind = PhoneEventWork(invites: invites)
        var rules = kind.rules
        rules.together = 5
        rules.pollInterval = .milliseconds(20)
        rules.outage = Backoff(first: .milliseconds(1), max: .milliseconds(20))
        rules.retry = rules.outage
        let work = WorkTable(profile.database) { WallClock.system.nowMilliseconds }
        return WorkRunner(kind, in: work, rules: rules, logger: Logger(label: "test"))
    }

    private func makeGroup(of groups: GroupServiceClient) async throws -> String {
        var request = AppV1.CreateGroupRequest()
        request.name = "Hikers"
        return try await groups.createGroup(request, options: Self.asMaria).group.groupID
    }

    /// Users change their numbers while those numbers are invited.
    private func saveAndInvite(
        _ profile: ProfileFixture,
        _ groups: GroupServiceClient,
        _ group: String,
        seed: UInt64
    ) async throws {
        let users = (0..<5).map { _ in someone() }
        try await withThrowingTaskGroup { tasks in
            for worker in 0..<4 {
                tasks.addTask {
                    var generator = SeededGenerator(state: seed * 100 + UInt64(worker))
                    for _ in 0..<25 {
                        let number = Int.random(in: 0..<8, using: &generator)
                        if worker == 0 {
                            var request = AppV1.AddMemberRequest()
                            request.groupID = group
                            request.phoneNumber = phone(number)
                            request.displayName = "Invitee"
                            _ = try await groups.addMember(request, options: Self.asMaria)
                        } else {
                            let user = users[Int.random(in: 0..<users.count, using: &generator)]
                            do throws(RPCError) {
                                try await profile.update(user, phone: phone(number))
                            } catch {
                                #expect(error.reason == "PHONE_TAKEN")
                            }
                        }
                    }
                }
            }
            try await tasks.waitForAll()
        }
    }

    private func owners(_ database: PostgresClient, _ sql: String) async throws -> [String: String] {
        let rows = try await database.query(Query(unsafeSQL: sql))
        return Dictionary(uniqueKeysWithValues: try rows.map { try $0.decode(String.self, String.self) })
    }
}

/// Loses a third of the questions and, after they took effect, a third of the answers.
private final class LossyChannel: ClientChannel {
    private enum Loss { case none, question, answer }
    private struct State {
        var generator: SeededGenerator
        var lossCount = 0
    }
    private let channel: any ClientChannel
    private let state: Mutex<State>

    init(_ channel: any ClientChannel, seed: UInt64) {
        self.channel = channel
        state = Mutex(State(generator: SeededGenerator(state: seed)))
    }

    var lossCount: Int { state.withLock { $0.lossCount } }

    func unary<Request: SwiftProtobuf.Message, Response: SwiftProtobuf.Message>(
        _ method: MethodDescriptor,
        _ request: Request,
        response: Response.Type,
        options: CallOptions
    ) async throws(RPCError) -> Response {
        let loss = state.withLock { state -> Loss in
            switch Int.random(in: 0..<3, using: &state.generator) {
            case 0: return .none
            case 1:
                state.lossCount += 1
                return .question
            default:
                state.lossCount += 1
                return .answer
            }
        }
        if loss == .question { throw RPCError(.unavailable, "the question was lost") }
        let answer = try await channel.unary(method, request, response: response, options: options)
        if loss == .answer { throw RPCError(.unavailable, "the answer was lost") }
        return answer
    }

    /// Loses nothing: no call of phone events is a stream.
    func stream<Request: SwiftProtobuf.Message, Response: SwiftProtobuf.Message, Result: Sendable>(
        _ method: MethodDescriptor,
        request: Request.Type,
        response: Response.Type,
        options: CallOptions,
        _ body: @Sendable (RequestWriter<Request>, MessageReader<Response>) async throws -> Result
    ) async throws -> Result {
        try await channel.stream(method, request: request, response: response, options: options, body)
    }
}
