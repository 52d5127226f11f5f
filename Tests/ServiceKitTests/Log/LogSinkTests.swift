import Glibc
import Logging
import Testing

@testable import ServiceKit

struct LogSinkTests {
    private func pipe() throws -> (readEnd: Int32, writeEnd: Int32) {
        var ends: [Int32] = [-1, -1]
        try #require(Glibc.pipe(&ends) == 0)
        return (ends[0], ends[1])
    }

    private func readAll(_ descriptor: Int32) -> String {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            guard count > 0 else { break }
            bytes += chunk[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func `Writes lines in order, all of them by the end of flush`() throws {
        let (readEnd, writeEnd) = try pipe()
        let sink = LogSink(fileDescriptor: writeEnd)
        for number in 0..<100 { sink.append("line \(number)\n") }
        sink.flush()
        close(writeEnd)
        #expect(readAll(readEnd) == (0..<100).map { "line \($0)\n" }.joined())
        close(readEnd)
    }

    @Test
    func `A reader that stands still doesn't hold up the writer; what doesn't fit is dropped and counted`() throws {
        let (readEnd, writeEnd) = try pipe()
        let sink = LogSink(fileDescriptor: writeEnd, bytesMax: 10_000)
        let line = String(repeating: "x", count: 999) + "\n"
        let start = ContinuousClock.now
        for _ in 0..<1000 { sink.append(line) }
        sink.flush(limit: .milliseconds(50))
        #expect(ContinuousClock.now - start < .seconds(5))
        // A pipe holds 64 KiB; reading lets the writer go on until all that was kept is out.
        var text = ""
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while !text.contains("dropped") {
            let count = read(readEnd, &chunk, chunk.count)
            try #require(count > 0)
            text += String(decoding: chunk[..<count], as: UTF8.self)
        }
        let kept = text.split(separator: "\n").count { $0.hasPrefix("xxx") }
        #expect(kept >= 10 && kept < 200)
        let notice = try #require(text.split(separator: "\n").first { $0.contains("dropped") })
        #expect(notice.contains(#""message":"log lines were dropped","count":"#))
        close(writeEnd)
        close(readEnd)
    }

    @Test func `The handler merges facts, the nearest wins, and obeys its level`() throws {
        let (readEnd, writeEnd) = try pipe()
        let sink = LogSink(fileDescriptor: writeEnd)
        var logger = Logger(label: "test") { label in
            ServiceLogHandler(label: label, format: .json, sink: sink, logLevel: .info)
        }
        logger[metadataKey: "a"] = "outer"
        logger[metadataKey: "b"] = "outer"
        logger.debug("silent")
        logger.info("spoken", metadata: ["b": "inner"])
        sink.flush()
        close(writeEnd)
        let text = readAll(readEnd)
        close(readEnd)
        #expect(!text.contains("silent"))
        #expect(text.contains(#""message":"spoken","a":"outer","b":"inner"}"#))
    }

    @Test func `A line is written without a flush, and so is one that comes soon after`() async throws {
        let (readEnd, writeEnd) = try pipe()
        let sink = LogSink(fileDescriptor: writeEnd)
        sink.append("first\n")
        sink.append("second\n")
        var text = ""
        var chunk = [UInt8](repeating: 0, count: 100)
        while text != "first\nsecond\n" {
            let count = read(readEnd, &chunk, chunk.count)
            try #require(count > 0)
            text += String(decoding: chunk[..<count], as: UTF8.self)
        }
        close(writeEnd)
        close(readEnd)
    }

    @Test func `Lines that follow one another are written together`() throws {
        let ends = try sockets()
        let sink = LogSink(fileDescriptor: ends.writeEnd)
        let count = 400
        for number in 0..<count {
            sink.append("line \(number)\n")
            usleep(100)
        }
        sink.flush()
        close(ends.writeEnd)
        var writes = 0
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while read(ends.readEnd, &chunk, chunk.count) > 0 { writes += 1 }
        // They take at least 40 ms: four times the moment that the thread stays awake.
        #expect(writes >= 2 && writes < count / 4)
        close(ends.readEnd)
    }

    /// A pair that keeps the borders of writes.
    private func sockets() throws -> (readEnd: Int32, writeEnd: Int32) {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends) == 0)
        return (ends[0], ends[1])
    }

    @Test func `Lines of known facts say what the logger would say`() throws {
        let (readEnd, writeEnd) = try pipe()
        let sink = LogSink(fileDescriptor: writeEnd)
        var logger = Logger(label: "test") { label in
            ServiceLogHandler(label: label, format: .json, sink: sink, logLevel: .info)
        }
        let plain = FactLog(logger, "spoken")
        logger[metadataKey: "a"] = "outer"
        for lines in [plain, FactLog(logger, "spoken")] {
            lines.log(.debug) { $0.add("b", 1) }
            lines.log(.info) { facts in
                facts.add("b", "text")
                facts.add("c", 7)
            }
        }
        sink.flush()
        close(writeEnd)
        let text = readAll(readEnd).split(separator: "\n")
        close(readEnd)
        try #require(text.count == 2)
        #expect(text[0].hasSuffix(#""message":"spoken","b":"text","c":7}"#))
        #expect(text[1].hasSuffix(#""message":"spoken","a":"outer","b":"text","c":7}"#))
    }
}

extension LogSink {
    fileprivate func append(_ line: String) {
        var line = line
        line.withUTF8 { append($0) }
    }
}
