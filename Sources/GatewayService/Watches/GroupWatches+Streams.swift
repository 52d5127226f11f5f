import API
import Logging
import RPC
import ServiceKit
import Synchronization

extension GroupWatches {
    /// Thrown for an open stream that is silent.
    private struct Silence: Error {}

    private static let backoff = Backoff(first: .milliseconds(20), max: .seconds(1))

    /// Holds the streams while they are needed, until the task is cancelled.
    ///
    /// - Parameter answers: those that are good while it is heard which sessions end; nil where there are none.
    func run(answers: SessionAnswers? = nil, logger: Logger) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await self.hold("invites", self.streamBell, logger, while: { self.isWatched }) {
                    try await self.holdInvites($0)
                }
            }
            let ends = SessionEnds(watches: self, answers: answers)
            group.addTask {
                await self.hold("identity", self.endsBell, logger, while: { ends.isNeeded }) { try await ends.hold($0) }
            }
            group.addTask {
                while !Task.isCancelled {
                    try? await Task.sleep(for: self.limits.tick)
                    self.tick()
                }
            }
        }
    }

    /// Holds one stream after the other while one is needed.
    private func hold(
        _ service: String,
        _ bell: CoalescingSignal,
        _ logger: Logger,
        while isNeeded: () -> Bool,
        _ stream: (LastMessageTime) async throws -> Void
    ) async {
        var failures = 0
        while !Task.isCancelled {
            if !isNeeded() {
                await bell.wait(atMost: .seconds(3_600))
                continue
            }
            let heard = LastMessageTime()
            do {
                try await stream(heard)
                failures = 0
            } catch {
                failures = heard.hasHeard ? 1 : failures + 1
                if failures == 1, !Task.isCancelled {
                    logger.warning(
                        "a stream of events was lost",
                        metadata: ["service": "\(service)", "cause": "\(error)"]
                    )
                }
            }
            try? await Task.sleep(for: Self.backoff.wait(failures: max(failures, 1), random: .random(in: 0..<1)))
        }
    }

    /// Runs one stream to invites until it ends or there are no subscribers left.
    private func holdInvites(_ heard: LastMessageTime) async throws {
        var options = CallOptions(deadline: .never)
        options.inheritsFromCall = false
        defer { if !heard.wasIdle { streamLost() } }
        try await invites.watchGroups(options: options) { requests, messages in
            // Before any task of it can find that there are no subscribers left.
            self.streamOpened()
            try await withThrowingTaskGroup(of: Void.self) { group in
                defer { group.cancelAll() }
                group.addTask {
                    for try await message in messages {
                        heard.now()
                        self.take(message)
                    }
                }
                group.addTask {
                    while !Task.isCancelled {
                        for request in self.takeRequests() { try await requests.write(request) }
                        await self.requestBell.wait(atMost: .seconds(3_600))
                    }
                }
                group.addTask {
                    while !self.closesIdleStream() {
                        try await Task.sleep(for: self.limits.tick)
                        if heard.age > self.limits.silenceMax { throw Silence() }
                    }
                    heard.endIdle()
                }
                try await group.next()
            }
        }
    }
}

/// The state of a stream, shared by its tasks.
final class LastMessageTime: Sendable {
    private let state = Mutex((at: ContinuousClock.now, hasHeard: false, wasIdle: false))

    /// Notes a message.
    func now() { state.withLock { ($0.at, $0.hasHeard) = (.now, true) } }

    /// Notes that the stream ends because there are no subscribers.
    func endIdle() { state.withLock { $0.wasIdle = true } }

    var wasIdle: Bool { state.withLock { $0.wasIdle } }

    /// The time since the last message, or since the begin.
    var age: Duration { state.withLock { ContinuousClock.now - $0.at } }

    /// Whether any message came.
    var hasHeard: Bool { state.withLock { $0.hasHeard } }
}
