import Logging
import Testing

@testable import ServiceKit

struct LogLineTests {
    private func text(
        _ format: LogFormat,
        _ message: String,
        _ facts: [(String, Logger.MetadataValue)] = []
    ) -> String {
        var line = LogLine(
            format,
            timestamp: LogTimestamp(seconds: 1_798_761_599, milliseconds: 7),
            level: .warning,
            label: "identity",
            message: message
        )
        for (name, value) in facts { line.add(name, value) }
        return String(decoding: line.finished(), as: UTF8.self)
    }

    @Test func `A line of JSON is one object with the facts flat and numbers bare`() {
        #expect(
            text(.json, "call", [("code", "ok"), ("microseconds", .stringConvertible(12)), ("list", ["a", "b"])]) == #"{"time":"2026-12-31T23:59:59.007Z","level":"warning","logger":"identity","#
                + #""message":"call","code":"ok","microseconds":12,"list":["a","b"]}"# + "\n"
        )
    }

    @Test func `A line of text has time, level, logger, message and facts`() {
        #expect(
            text(.text, "call", [("code", "ok")])
                == "2026-12-31T23:59:59.007Z warning  identity: call code=ok\n"
        )
    }

    @Test(arguments: LogFormat.allCases)
    func `Whatever is in it, a line is one line`(_ format: LogFormat) {
        let text = text(format, "a\nb\r\n\u{1}\u{7f}\"\\", [("k\ney", "v\nalue")])
        #expect(text.unicodeScalars.count { $0 == "\n" } == 1)
        #expect(!text.dropLast().unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7f })
    }

    @Test func `JSON escapes what it must`() {
        #expect(text(.json, "\"\\\n\u{1}\u{7f}é").contains(#""message":"\"\\\n\u0001\u007fé""#))
    }

    @Test func `A fact can't take the place of the line's own members`() {
        #expect(text(.json, "m", [("level", "x")]).contains(#""_level":"x""#))
    }

    @Test func `A huge value is cut`() {
        #expect(text(.json, "m", [("v", .string(String(repeating: "é", count: 100_000)))]).utf8.count < 10_000)
    }

    @Test(arguments: LogFormat.allCases)
    func `Facts of known types stand as those of swift-log do`(_ format: LogFormat) {
        let moment = LogTimestamp(seconds: 0, milliseconds: 0)
        var known = LogLine(format, timestamp: moment, level: .info, label: "l", message: "m")
        var any = known
        known.add("text", "a\"b\n")
        any.add("text", Logger.MetadataValue.string("a\"b\n"))
        for number in [0, 7, -1, Int64.max, .min] {
            known.add("number", number)
            any.add("number", Logger.MetadataValue.stringConvertible(number))
        }
        #expect(known.finished() == any.finished())
    }

    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (951_782_400, "2000-02-29T00:00:00.000Z"),
            (4_107_542_399, "2100-02-28T23:59:59.000Z"), (4_107_542_400, "2100-03-01T00:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.000Z"), (1_709_164_800, "2024-02-29T00:00:00.000Z"),
        ] as [(Int64, String)]
    )
    func `Timestamps follow the calendar`(_ seconds: Int64, _ text: String) {
        var bytes: [UInt8] = []
        LogTimestamp(seconds: seconds, milliseconds: 0).append(to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == text)
    }
}
