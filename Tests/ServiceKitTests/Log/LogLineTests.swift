import Logging
import Testing

@testable import ServiceKit

struct LogLineTests {
    private func text(
        _ format: LogFormat,
        _ message: String,
        _ facts: [(String, Logger.MetadataValue)] = []
    ) -> String {
        LogLineHead(format, .warning, label: "identity", message: message)
            .text(at: LogTimestamp(seconds: 1_798_761_599, milliseconds: 7)) { line in
                for (name, value) in facts { line.add(name, value) }
            }
    }

    @Test func `A line of JSON is one object with the facts flat and numbers bare`() {
        #expect(
            text(.json, "call", [("code", "ok"), ("microseconds", .stringConvertible(12)), ("list", ["a", "b"])])
                == #"{"time":"2026-12-31T23:59:59.007Z","level":"warning","logger":"identity","#
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
    func `An entry is one line, whatever it contains`(_ format: LogFormat) {
        let text = text(format, "a\nb\r\n\u{1}\u{7f}\"\\", [("k\ney", "v\nalue")])
        #expect(text.unicodeScalars.count { $0 == "\n" } == 1)
        #expect(!text.dropLast().unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7f })
    }

    @Test func `JSON escapes what it must`() {
        #expect(text(.json, "\"\\\n\u{1}\u{7f}é").contains(#""message":"\"\\\n\u0001\u007fé""#))
    }

    @Test func `JSON escapes it wherever it stands`() {
        // Eight bytes are looked at together.
        var wrong: [String] = []
        for byte in UInt8(0)...127 {
            let scalar = UnicodeScalar(byte)
            let escaped = byte < 0x20 || byte == 0x7f || scalar == "\"" || scalar == "\\"
            for place in [0, 1, 6, 7, 8, 9, 16, 20] {
                let before = String(repeating: "é", count: place / 2) + String(repeating: "~", count: place % 2)
                let after = String(repeating: " ", count: 20 - place)
                let line = text(.json, before + String(scalar) + after)
                let message = "\"message\":\"" + before + (escaped ? "\\" : String(scalar) + after + "\"")
                if !line.contains(message) { wrong.append("\(byte) at \(place)") }
            }
        }
        #expect(wrong.isEmpty)
    }

    @Test func `A fact can't take the place of the line's own members`() {
        #expect(text(.json, "m", [("level", "x")]).contains(#""_level":"x""#))
    }

    @Test func `A huge value is cut`() {
        #expect(text(.json, "m", [("v", .string(String(repeating: "é", count: 100_000)))]).utf8.count < 10_000)
    }

    @Test(arguments: LogFormat.allCases)
    func `Facts of known types stand as those of swift-log do`(_ format: LogFormat) {
        let head = LogLineHead(format, .info, label: "l", message: "m")
        let time = LogTimestamp(seconds: 0, milliseconds: 0)
        let numbers = [0, 7, -1, Int64.max, .min]
        let known = head.text(at: time) { line in
            line.add("text" as StaticString, "a\"b\n" as String)
            for number in numbers { line.add("number" as StaticString, number) }
        }
        let any = head.text(at: time) { line in
            line.add("text" as String, .string("a\"b\n"))
            for number in numbers { line.add("number" as String, .stringConvertible(number)) }
        }
        #expect(known == any)
    }

    @Test(arguments: LogFormat.allCases)
    func `A line longer than most is whole`(_ format: LogFormat) {
        for length in [900, 1_000, 1_024, 8_000, 8_192] {
            let value = String(repeating: "v", count: length)
            #expect(text(format, "m", [("a", .string(value)), ("z", "end")]).contains(value))
            #expect(
                text(format, "m", [("a", .string(value)), ("z", "end")]).hasSuffix(
                    format == .json ? "\"}\n" : "z=end\n"
                )
            )
        }
    }

    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (951_782_400, "2000-02-29T00:00:00.000Z"),
            (4_107_542_399, "2100-02-28T23:59:59.000Z"), (4_107_542_400, "2100-03-01T00:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.000Z"), (1_709_164_800, "2024-02-29T00:00:00.000Z"),
        ] as [(Int64, String)]
    )
    func `Timestamps follow the calendar`(_ seconds: Int64, _ text: String) {
        let head = LogLineHead(.text, .info, label: "l", message: "m")
        let line = head.text(at: LogTimestamp(seconds: seconds, milliseconds: 0)) { _ in }
        #expect(line.hasPrefix(text + " "))
    }
}

extension LogLineHead {
    fileprivate func text(at timestamp: LogTimestamp, addFacts: (inout LogLine) -> Void) -> String {
        var text = ""
        writeLine(at: timestamp, addFacts: addFacts) { text = String(decoding: $0, as: UTF8.self) }
        return text
    }
}
