import Glibc

/// A thread of its own for work that blocks. Not Foundation's: linking that into a program adds its tables of all languages.
enum DetachedThread {
    private final class Work {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs the closure on a new thread, which ends with it. Without a thread to be had it runs here.
    static func run(_ body: @escaping @Sendable () -> Void) {
        let work = Unmanaged.passRetained(Work(body))
        var thread = pthread_t()
        let failure = pthread_create(&thread, nil, runDetached, work.toOpaque())
        guard failure == 0 else { return work.takeRetainedValue().body() }
        pthread_detach(thread)
    }

    fileprivate static func finish(_ context: UnsafeMutableRawPointer) {
        Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body()
    }
}

private func runDetached(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let context { DetachedThread.finish(context) }
    return nil
}
