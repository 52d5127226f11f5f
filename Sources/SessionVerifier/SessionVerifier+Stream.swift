import API
import RPC
import Synchronization

extension SessionVerifier {
    /// Thrown where a stream is there and says nothing.
    private struct Silence: Error {}

    /// Holds one stream after the other until the task is cancelled.
    func holdStreams() async {
        let backoff = Backoff(first: configuration.reconnectWait, max: configuration.reconnectWaitMax)
        var failures = 0
        while !Task.isCancelled {
            let wasGood = await holdStream()
            state.streamEnded()
            // After one that was good the next replica is tried at once, or nearly: those whose server stops all come then.
            failures = wasGood ? 1 : failures + 1
            try? await Task.sleep(for: backoff.wait(failures: failures, random: .random(in: 0..<1)))
        }
    }

    /// Takes what a stream tells until it ends. Whether it told all, once.
    private func holdStream() async -> Bool {
        state.streamBegins()
        var options = CallOptions(deadline: .never)
        options.inheritsFromCall = false
        var request = IdentityV1.WatchRevocationsRequest()
        request.position = .init(state.position)
        let wasGood = WasGood()
        // Whatever it throws, the next one is opened.
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

    /// Throws when nothing was heard for too long: a connection that is cut without a word would be waited for.
    private func watchForSilence() async throws {
        while true {
            try await Task.sleep(for: state.silenceMax / 2)
            if state.hasBeenSilentTooLong() { throw Silence() }
        }
    }
}

/// Whether a stream has told all, once; of two tasks that share nothing else.
private final class WasGood: Sendable {
    private let flag = Atomic(false)

    var isSet: Bool { flag.load(ordering: .relaxed) }

    func set() { flag.store(true, ordering: .relaxed) }
}
