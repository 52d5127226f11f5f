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
        for number in 0..<100 { sink.append(Array("line \(number)\n".utf8)) }
        sink.flush()
        close(writeEnd)
        #expect(readAll(readEnd) == (0..<100).map { "line \($0)\n" }.joined())
        close(readEnd)
    }

    @Test
    func `A reader that stands still doesn't hold up the writer; what doesn't fit is dropped and counted`() throws {
        let (readEnd, writeEnd) = try pipe()
        let sink = LogSink(fileDescriptor: writeEnd, bytesMax: 10_000)
        let line = [UInt8](repeating: UInt8(ascii: "x"), count: 999) + [UInt8(ascii: "\n")]
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
}
