internal import CLibPQ
import Dispatch
import RPCTransport
import Synchronization

/// Has the server end the statement of a connection that one transaction has to itself, so that its end hits nobody else.
///
/// libpq 15 can only do that by calls that block, so they are made on a thread of its own, one after the other. It would
/// also send the connection's secret in clear; so a connection by TLS is left to the server, which looks once a second
/// whether it was closed.
final class StatementCanceller: Sendable {
    private let queue = DispatchQueue(label: "vestibule.postgres.cancel")
    private let waiting = Atomic(0)

    /// Requests that may wait for the thread. What comes on top has its connection closed, which ends the statement too.
    static let waitingMax = 16
    /// How long one may take.
    static let limit: Duration = .milliseconds(500)

    /// Calls back once on the loop, within the limit: with false if it isn't certain that the server has had the request,
    /// since one that comes late would end another statement. Loop's thread.
    func cancel(_ connection: Connection, _ done: @escaping (Bool) -> Void) {
        guard let handle = connection.handle else { return done(false) }
        if PQsslInUse(handle) != 0 { return done(true) }
        guard waiting.load(ordering: .relaxed) < Self.waitingMax, let request = PQgetCancel(handle) else {
            return done(false)
        }
        waiting.add(1, ordering: .relaxed)
        connection.isBeingCancelled = true
        let loop = connection.loop
        let answer = Answer { [weak connection] isSent in
            connection?.isBeingCancelled = false
            done(isSent)
        }
        answer.timer = loop.schedule(after: Self.limit) { answer.give(false) }
        let (bound, pointer) = (LoopBound(answer, loop: loop), UInt(bitPattern: request))
        queue.async { [self] in
            guard let request = OpaquePointer(bitPattern: pointer) else { return }
            // The buffer's size is what the manual recommends.
            let isSent = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { words in
                PQcancel(request, words.baseAddress, 256) == 1
            }
            PQfreeCancel(request)
            waiting.subtract(1, ordering: .relaxed)
            loop.execute { bound.value.give(isSent) }
        }
    }

    /// Given by the thread or the timer, whichever is first. Loop's thread only.
    private final class Answer {
        var timer: LoopTimer?
        private var done: ((Bool) -> Void)?

        init(_ done: @escaping (Bool) -> Void) { self.done = done }

        func give(_ isSent: Bool) {
            timer?.cancel()
            timer = nil
            let done = done
            self.done = nil
            done?(isSent)
        }
    }
}
