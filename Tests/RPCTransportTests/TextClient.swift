import Glibc

/// A client of HTTP/1.1 by hand: it sends texts and reads what comes. It blocks its thread, for ten seconds at most.
final class TextClient {
    struct Failed: Error, CustomStringConvertible { let description: String }

    private let socket: Int32
    /// What came and was not taken.
    private(set) var text = ""

    init(port: Int) throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var time = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        let failure = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard failure == 0 else { throw Failed(description: "connect: \(errno)") }
    }

    deinit { close(socket) }

    func send(_ bytes: [UInt8]) throws {
        guard Glibc.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
            throw Failed(description: "send: \(errno)")
        }
    }

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    /// Reads more. False at the end.
    private func read() throws -> Bool {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = recv(socket, &bytes, bytes.count, 0)
        if count < 0 { throw Failed(description: "recv: \(errno)") }
        text += String(decoding: bytes.prefix(count), as: UTF8.self)
        return count > 0
    }

    /// Everything until the server closes.
    func readToEnd() throws -> String {
        while try read() {}
        return text
    }

    /// An answer with a Content-Length: its head, and its body. Nil if the server closed before it began.
    func readAnswer() throws -> (head: String, body: String)? {
        while true {
            if let end = text.firstRange(ofText: "\r\n\r\n") {
                let head = String(text[..<end.upperBound])
                let line = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("content-length: ") }
                let length = line.flatMap { Int($0.split(separator: " ").last ?? "") } ?? 0
                let rest = text[end.upperBound...]
                if rest.utf8.count >= length {
                    let body = String(rest.prefix(length))
                    text = String(rest.dropFirst(length))
                    return (head, body)
                }
            }
            guard try read() else {
                guard text.isEmpty else { throw Failed(description: "an answer is cut short: \(text)") }
                return nil
            }
        }
    }
}

extension String {
    func firstRange(ofText other: String) -> Range<String.Index>? {
        let (all, part) = (Array(utf8), Array(other.utf8))
        guard all.count >= part.count else { return nil }
        for start in 0...(all.count - part.count) where all[start..<start + part.count].elementsEqual(part) {
            return utf8.index(
                utf8.startIndex,
                offsetBy: start
            )..<utf8.index(utf8.startIndex, offsetBy: start + part.count)
        }
        return nil
    }
}
