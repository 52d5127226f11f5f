import API
import Models
import RPC
import ServiceKit
import TestDatabases
import Testing

@testable import InvitesService

/// Positions of `WatchGroups` are gone on from only as invites gave them, by the user for whom they were sealed.
@Suite(.timeLimit(.minutes(5)))
struct SealedPositionTests {
    /// Begins one watching after the other on one stream.
    private final class Watching {
        private let service: InvitesFixture
        private let requests: RequestWriter<InvitesV1.WatchGroupsRequest>
        private var messages: MessageReader<InvitesV1.WatchGroupsResponse>.AsyncIterator
        private var lastID: UInt64 = 0

        init(
            _ service: InvitesFixture,
            _ requests: RequestWriter<InvitesV1.WatchGroupsRequest>,
            _ messages: MessageReader<InvitesV1.WatchGroupsResponse>
        ) {
            (self.service, self.requests) = (service, requests)
            self.messages = messages.makeAsyncIterator()
        }

        func begin(_ user: UserID, from position: [UInt8]) async throws -> InvitesV1.WatchBegun {
            lastID += 1
            var request = InvitesV1.WatchGroupsRequest()
            request.watchID = lastID
            request.begin.callerProof = try #require(
                service.options(for: user).metadata.first(CallerProofKey.metadataName)
            )
            request.begin.position = .init(position)
            try await requests.write(request)
            while let message = try await messages.next() {
                if case .begun(let begun) = message.news, begun.watchID == lastID { return begun }
            }
            return try #require(nil as InvitesV1.WatchBegun?, "the stream ended")
        }
    }

    private func watching(_ service: InvitesFixture, _ body: @Sendable @escaping (Watching) async throws -> Void)
        async throws
    {
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            defer { tasks.cancelAll() }
            tasks.addTask { await service.parts.groupEvents.run() }
            try await service.invites.watchGroups { requests, messages in
                try await body(Watching(service, requests, messages))
            }
        }
    }

    @Test(.readsLogsBySnapshots)

    func `A position that is forged, altered or somebody else's begins anew`() async throws {
        try await InvitesFixture.run { service in
            let (maria, ana) = (someone(), someone())
            try await watching(service) { watching in
                let first = try await watching.begin(maria, from: [])
                #expect(!first.isReset)
                let (key, given) = (try #require(CursorKey(first.positionKey)), Array(first.position))
                #expect(try await !watching.begin(maria, from: key.seal(given)).isReset)

                let position = try #require(GroupPosition(given: given))
                func forged(_ madeAtSeconds: Int64) -> [UInt8] {
                    GroupPosition(epoch: position.epoch, madeAtSeconds: madeAtSeconds, snapshot: position.snapshot)
                        .bytes
                }
                let sealed = key.seal(given)
                let flipped = sealed.dropLast() + [sealed[sealed.count - 1] ^ 1]
                let bad: [[UInt8]] = [
                    given, forged(.min), forged(.max), forged(.min) + sealed.suffix(16), Array(sealed.dropLast()),
                    sealed + [0], Array(flipped), [0], [UInt8](repeating: 1, count: 9_999),
                ]
                for position in bad { #expect(try await watching.begin(maria, from: position).isReset) }
                #expect(try await watching.begin(ana, from: sealed).isReset)
                // Even one that was sealed with an extreme time ends nothing.
                for time in [Int64.min, .min + 1, -1, .max] {
                    #expect(try await watching.begin(maria, from: key.seal(forged(time))).isReset)
                }
                #expect(try await !watching.begin(maria, from: sealed).isReset)
            }
        }
    }

    @Test func `A position is gone on from while its key is kept`() async throws {
        try await InvitesFixture.run { service in
            let maria = someone()
            let (old, new) = ([UInt8](repeating: 9, count: 32), [UInt8](repeating: 8, count: 32))
            let cursors = service.parts.methods.currentCursors
            try await watching(service) { watching in
                let begun = try await watching.begin(maria, from: [])
                let sealed = try #require(CursorKey(begun.positionKey)).seal(Array(begun.position))
                cursors.replace(try #require(CursorSeal(keys: [new, old])))
                let after = try await watching.begin(maria, from: sealed)
                #expect(!after.isReset && after.positionKey != begun.positionKey)
                cursors.replace(try #require(CursorSeal(keys: [new])))
                #expect(try await watching.begin(maria, from: sealed).isReset)
            }
        }
    }
}
