import Glibc
import RPC

/// The thread of a `MetricsServer`: waits for all its sockets at once, so that a slow peer holds up nobody.
final class MetricsServerLoop {
    /// Reading the request → sending the answer → waiting for the peer's end, so that what it may still send does not
    /// make the system drop the answer (RFC 9112 section 9.6). Closed at the end, or when its time is up.
    private struct Connection {
        let descriptor: Int32
        let deadline: Deadline
        var exchange = MetricsExchange()
        var answer: [UInt8] = []
        var sent = 0

        var isAnswered: Bool { !answer.isEmpty && sent == answer.count }
    }

    private let listening: Int32
    private let stopping: Int32
    private let makeText: () -> String
    private var connections: [Connection] = []

    /// Owns both. `stopping` becomes readable, or has no other end any more, when the loop is to end.
    init(listening: Int32, stopping: Int32, makeText: @escaping () -> String) {
        self.listening = listening
        self.stopping = stopping
        self.makeText = makeText
    }

    func run() {
        while !waitAndServe() {}
        for connection in connections { close(connection.descriptor) }
        close(listening)
        close(stopping)
    }

    /// One turn; whether it was the last.
    private func waitAndServe() -> Bool {
        let hasRoom = connections.count < MetricsServer.connectionsMax
        var files = [
            pollfd(fd: stopping, events: Int16(POLLIN), revents: 0),
            pollfd(fd: hasRoom ? listening : -1, events: Int16(POLLIN), revents: 0),
        ]
        files += connections.map { connection in
            let isSending = !connection.answer.isEmpty && !connection.isAnswered
            let events = Int16(isSending ? POLLOUT : POLLIN)
            return pollfd(fd: connection.descriptor, events: events, revents: 0)
        }
        guard poll(&files, nfds_t(files.count), timeoutMilliseconds) >= 0 || errno == EINTR else { return true }
        if files[0].revents != 0 { return true }
        var open: [Connection] = []
        for (file, connection) in zip(files.dropFirst(2), connections) {
            var connection = connection
            if !connection.deadline.hasPassed, file.revents == 0 || serve(&connection) {
                open.append(connection)
            } else {
                close(connection.descriptor)
            }
        }
        connections = open
        if files[1].revents != 0 { accept() }
        return false
    }

    private var timeoutMilliseconds: Int32 {
        guard let first = connections.map(\.deadline).min() else { return -1 }
        return Int32(first.remaining.wholeNanoseconds / 1_000_000) + 1
    }

    private func accept() {
        let descriptor = Glibc.accept(listening, nil, nil)
        if descriptor >= 0 {
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
            connections.append(
                Connection(descriptor: descriptor, deadline: .after(MetricsServer.connectionTimeout))
            )
        } else if errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS {
            // It stays readable: without a pause this would spin.
            usleep(100_000)
        }
    }

    /// Goes on with a connection; whether there is more to do.
    private func serve(_ connection: inout Connection) -> Bool {
        if connection.answer.isEmpty || connection.isAnswered {
            var chunk = [UInt8](repeating: 0, count: 4096)
            let count = recv(connection.descriptor, &chunk, chunk.count, 0)
            if count < 0 { return errno == EAGAIN || errno == EINTR }
            guard count > 0 else { return false }
            if connection.isAnswered { return true }
            guard let answer = connection.exchange.receive(chunk[..<count], text: makeText) else { return true }
            connection.answer = answer
        }
        let count = connection.answer.withUnsafeBytes { bytes in
            let rest = UnsafeRawBufferPointer(rebasing: bytes[connection.sent...])
            return send(connection.descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
        }
        if count < 0 { return errno == EAGAIN || errno == EINTR }
        connection.sent += count
        if connection.isAnswered { shutdown(connection.descriptor, Int32(SHUT_WR)) }
        return true
    }
}
