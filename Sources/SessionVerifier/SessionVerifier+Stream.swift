import API
import RPC
import Synchronization

extension SessionVerifier {
    /// Thrown when an open stream is silent.
    private struct Silence: Error {}

    /// Keeps one stream after the other open until the task is cancelled.
    func holdStreams() async {
        let backoff = Backoff(first: configuration.reconnectWait, max: configuration.reconnectWaitMax)
        var failures = 0
        while !Task.isCancelled {
            let wasGood = await holdStream()
            state.streamEnded()
            // After a good stream the next replica is tried almost at once, with a short wait: when a server stops, all its clients
            // reconnect then.
            failures = wasGood ? 1 : failures + 1
            try? await Task.sleep(for: backoff.wait(failures: failures, random: .random(in: 0..<1)))
        }
    }

    /// Applies a stream's messages until it ends. Returns whether the stream ever caught up.
    private func holdStream() async -> Bool {
        state.streamBegins()
        var options = CallOptions(deadline: .never)
        options.inheritsFromCall = false
        var request = IdentityV1.WatchRevocationsRequest()
        request.position = .init(state.position)
        let wasGood = WasGood()
        // Whatever it throws, the next stream is opened.
        try? await client.watchRevocations(request, options: options) { messages in
            try await withThrowingTaskGroup(of: Void.self) { group in
                defer { group.cancelAll() }
                group.addTask {
                    for try await message in messages {
                        let isCaughtUp = self.state.take(message, nowMilliseconds: self.nowMilliseconds())
                        if isCaughtUp { wasGood.set() }
                    }
                }
                group.addTask { try await self.watchForSilence() }
                try await group.next()
            }
        }
        return wasGood.isSet
    }

    /// Throws when the stream has been silent for too long: else a connection that is cut silently would be waited for.
    private func watchForSilence() async throws {
        while true {
            try await Task.sleep(for: state.silenceMax / 2)
            if state.hasBeenSilentTooLong() { throw Silence() }
        }
    }
}

/// Whether a stream has ever caught up; two tasks share this and nothing else.
private final class WasGood: Sendable {
    private let flag = Atomic(false)

    var isSet: Bool { flag.load(ordering: .relaxed) }

    func set() { flag.store(true, ordering: .relaxed) }
}
