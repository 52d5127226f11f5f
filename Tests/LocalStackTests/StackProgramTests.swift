import Foundation
import Synchronization
import TestWaits
import Testing

@testable import LocalStack

struct StackProgramTests {
    private final class Lines: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        func append(_ line: String) { lines.withLock { $0.append(line) } }
    }

    private func start(_ script: String, _ lines: Lines, graceSeconds: Int = 10) throws -> StackProgram {
        try StackProgram.start(
            name: "test",
            command: ["/bin/sh", "-c", script],
            environment: ["PATH": "/usr/bin:/bin", "GREETING": "hello"],
            graceSeconds: graceSeconds,
            log: { lines.append($0) }
        )
    }

    @Test func `Reports all output, then how it ended, and gets only this environment`() async throws {
        let lines = Lines()
        let program = try start("echo $GREETING; echo \"[$HOME]\" >&2; printf 'no line end'; exit 3", lines)
        try await eventually { program.exitStatus != nil }
        #expect(program.exitStatus == 3)
        #expect(lines.all == ["hello", "[]", "no line end"])
    }

    @Test func `Is stopped with SIGTERM and ends by itself`() async throws {
        let lines = Lines()
        let program = try start("trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.01; done", lines)
        try await eventually { lines.all == ["up"] }
        #expect(program.exitStatus == nil)
        program.stop()
        program.stop()
        try await eventually { program.exitStatus != nil }
        #expect(program.exitStatus == 0)
        #expect(lines.all == ["up", "bye"])
    }

    @Test func `Is killed if it ignores SIGTERM`() async throws {
        let lines = Lines()
        let program = try start("trap '' TERM; echo $$; while :; do sleep 0.01; done", lines, graceSeconds: 0)
        try await eventually { lines.all.count == 1 }
        program.stop()
        try await eventually { program.exitStatus != nil }
        #expect(program.exitStatus == 128 + SIGKILL)
        let process = try #require(pid_t(lines.all[0]))
        #expect(Foundation.kill(process, 0) != 0)
    }

    @Test func `A crash is reported as its signal`() async throws {
        let program = try start("kill -SEGV $$", Lines())
        try await eventually { program.exitStatus != nil }
        #expect(program.exitStatus == 128 + SIGSEGV)
    }

    @Test func `A missing program ends at once with the shell's error`() async throws {
        let lines = Lines()
        let program = try StackProgram.start(
            name: "test",
            command: ["/nonexistent/program"],
            environment: [:],
            log: { lines.append($0) }
        )
        try await eventually { program.exitStatus != nil }
        #expect(program.exitStatus == 127)
        #expect(lines.all.contains { $0.contains("/nonexistent/program") })
    }

    @Test(arguments: [
        ("2026-01-31T23:59:59.123Z warning  identity: slow", true),
        ("2026-01-31T23:59:59.123Z error    identity: broken", true),
        ("2026-01-31T23:59:59.123Z info     identity: call code=OK", false),
        ("2026-01-31T23:59:59.123Z notice   identity: error in a message", false),
        (#"{"time":"2026-01-31T23:59:59.123Z","level":"error","message":"x"}"#, true),
        (#"{"time":"2026-01-31T23:59:59.123Z","level":"info","message":"x"}"#, false),
        ("Fatal error: index out of range", true), ("", false),
    ]
    )
    func `The terminal shows warnings, errors and lines that are not log entries`(_ line: String, _ isImportant: Bool) {
        #expect(ProgramLog.isImportant(line) == isImportant)
    }

    @Test func `The log file keeps all lines, memory the last ones, and the previous run's file is kept`() throws {
        let temporary = try TemporaryFolder()
        let path = temporary.path + "/test.log"
        let first = try ProgramLog(path: path)
        for number in 1...20 { first.append("line \(number)") }
        #expect(first.lastLines == (9...20).map { "line \($0)" })
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(text == (1...20).map { "line \($0)\n" }.joined())
        _ = try ProgramLog(path: path)
        #expect(try String(contentsOfFile: path, encoding: .utf8).isEmpty)
        #expect(try String(contentsOfFile: path + ".1", encoding: .utf8) == text)
    }
}
