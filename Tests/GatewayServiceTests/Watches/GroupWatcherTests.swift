import API
import SwiftProtobuf
import Synchronization
import Testing

@testable import GatewayService

/// The queue of one watching app, and how its stream ends.
@Suite(.timeLimit(.minutes(5)))
struct GroupWatcherTests {
    private static func watcher() -> GroupWatcher {
        GroupWatcher(number: 1, session: WatchingSession(userID: "u", sessionID: "s", expiresAtSeconds: 0))
    }

    private static func news(_ position: UInt8, _ groups: [String], isReset: Bool = false) -> WatchUpdate {
        WatchUpdate(
            position: [position],
            isReset: isReset,
            changes: groups.map { id in
                .with {
                    $0.kind = .groupChanged
                    $0.groupID = id
                }
            }
        )
    }

    @Test func `Waiting changes are sent together, each once, with the last position`() async throws {
        let watcher = Self.watcher()
        #expect(watcher.put(Self.news(1, ["a"])) && watcher.put(Self.news(2, ["a", "b"])))
        let news = try await watcher.next()
        #expect(news.position == [2] && news.changes.map(\.groupID) == ["a", "b"])
    }

    @Test func `A reset drops the changes before it`() async throws {
        let watcher = Self.watcher()
        watcher.reset(at: [9])
        #expect(watcher.put(Self.news(1, ["a"])))
        watcher.reset(at: [2])
        let news = try await watcher.next()
        #expect(news.isReset && news.changes.isEmpty && news.position == [2])
    }

    @Test func `Account changes come with the last position, also after resets, and their number is limited`()
        async throws
    {
        let watcher = Self.watcher()
        let change = IdentityV1.AccountChange.with { ($0.userID, $0.kind) = ("u", "provider_linked") }
        watcher.notify(change)
        #expect(watcher.put(Self.news(1, ["a"])))
        #expect(try await watcher.next().accountChanges.isEmpty, "the stream hadn't begun: the list has it")
        for _ in 0...GroupWatcher.accountChangesMax { watcher.notify(change) }
        var news = try await watcher.next()
        #expect(news.accountChanges.count == GroupWatcher.accountChangesMax)
        #expect(news.position == [1] && !news.isReset && news.changes.isEmpty)
        watcher.notify(change)
        #expect(watcher.put(Self.news(2, ["b"])))
        watcher.reset(at: [3])
        news = try await watcher.next()
        #expect(news.accountChanges == [change] && news.isReset && news.position == [3])
        #expect(watcher.end(.comeAgain))
        watcher.notify(change)
        await #expect(throws: WatchEnd.comeAgain) { try await watcher.next() }
    }

    @Test func `An app that reads nothing is too far behind`() {
        let watcher = Self.watcher()
        #expect(watcher.put(Self.news(1, (0..<GroupWatcher.changesMax).map(String.init))))
        #expect(!watcher.put(Self.news(2, ["one more"])))
    }

    @Test func `An end comes after waiting changes, but at once when the session has ended`() async throws {
        for (end, isTold) in [(WatchEnd.comeAgain, true), (.expired, true), (.revoked, false)] {
            let watcher = Self.watcher()
            #expect(watcher.put(Self.news(1, ["a"])) && watcher.end(end))
            #expect(!watcher.end(.comeAgain), "the first end counts")
            if isTold { #expect(try await watcher.next().changes.count == 1) }
            await #expect(throws: end) { try await watcher.next() }
        }
    }

    /// Either the wait or its end may be first.
    @Test func `A wait ends by news, by an end and by cancellation`() async throws {
        for round in 0..<300 {
            let watcher = Self.watcher()
            let task = Task { try await watcher.next() }
            if round % 2 == 0 { await Task.yield() }
            switch round % 3 {
            case 0:
                #expect(watcher.put(Self.news(1, ["a"])))
                #expect(try await task.value.changes.count == 1)
            case 1:
                _ = watcher.end(.comeAgain)
                await #expect(throws: WatchEnd.comeAgain) { try await task.value }
            default:
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
            }
        }
    }

    @Test func `An app that reads too slowly is disconnected`() async throws {
        let watcher = Self.watcher()
        let isTelling = Mutex(false)
        let task = Task {
            try await watcher.run { _ in
                isTelling.withLock { $0 = true }
                try await Task.sleep(for: .seconds(3_600))
            }
        }
        #expect(watcher.put(Self.news(1, ["a"])))
        while !isTelling.withLock({ $0 }) { await Task.yield() }
        _ = watcher.end(.slow)
        await #expect(throws: WatchEnd.slow) { try await task.value }
    }

    @Test func `An app that doesn't read the end is disconnected after a while`() async throws {
        let watcher = Self.watcher()
        let isTelling = Mutex(false)
        let task = Task {
            try await watcher.run { _ in
                isTelling.withLock { $0 = true }
                try await Task.sleep(for: .seconds(3_600))
            }
        }
        #expect(watcher.put(Self.news(1, ["a"])))
        while !isTelling.withLock({ $0 }) { await Task.yield() }
        _ = watcher.end(.revoked)
        watcher.tick(.now + GroupWatcher.endLimit * 2, heartbeat: .seconds(1), position: [1])
        await #expect(throws: WatchEnd.revoked) { try await task.value }
    }
}
