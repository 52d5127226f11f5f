import RPCTransport

/// Has connections send what they gathered, at the end of the loop's turn. Loop's thread only.
final class TurnFlush {
    private let loop: EventLoop
    private let beforehand: () -> Void
    private var hook: TurnHook?
    private var connections: [Connection] = []
    private var isFlushing = false

    /// - Parameter beforehand: runs at the end of a turn, before anything is sent. It may add connections.
    init(_ loop: EventLoop, beforehand: @escaping () -> Void) {
        self.loop = loop
        self.beforehand = beforehand
    }

    /// Has a connection send at the end of this turn.
    func add(_ connection: Connection) {
        if !connections.contains(where: { $0 === connection }) { connections.append(connection) }
        request()
    }

    /// Asks for the end of this turn.
    func request() {
        // What is placed while flushing goes out with it; another turn would only go to sleep later for it.
        if isFlushing { return }
        if hook == nil {
            hook = loop.makeTurnHook { [weak self] in self?.run() }
        }
        hook?.request()
    }

    /// Sends nothing any more.
    func stop() {
        hook = nil
        connections = []
    }

    private func run() {
        isFlushing = true
        defer { isFlushing = false }
        beforehand()
        while let connection = connections.popLast() { connection.flush() }
    }
}
