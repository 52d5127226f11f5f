import RPC

/// The writers of a call that wait. Loop thread only.
struct WriterQueue {
    private var waits: [WriterWait] = []

    /// Adds one, and forgets those that were cancelled.
    mutating func append(_ wait: WriterWait) {
        waits.removeAll { !$0.isWaiting }
        waits.append(wait)
    }

    /// Lets all go on.
    mutating func resumeAll() {
        guard !waits.isEmpty else { return }
        let waits = waits
        self.waits = []
        for wait in waits { wait.resume() }
    }
}
