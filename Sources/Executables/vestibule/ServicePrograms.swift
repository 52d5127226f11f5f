import Foundation
import Glibc
import LocalStack
import ServiceCommands
import ServiceKit

/// The programs of the services: only they have their configurations and databases.
enum ServicePrograms {
    /// A program's output and exit status.
    struct Answer {
        let program: String
        let status: Int32
        let text: String
    }

    /// All programs, in the order of their calls.
    static let all = ["identity", "profile", "invites"]

    /// Runs one with these arguments, and waits for its end. Its standard error is passed through.
    ///
    /// - Parameter command: the name of this program's command, for the error if the other can't be started, which ends this
    ///   process.
    static func ask(_ service: String, _ arguments: [String], configurationPath: String?, by command: String) -> Answer
    {
        let configured = ProcessInfo.processInfo.environment[StackKeys.programs.name].flatMap { $0.isEmpty ? nil : $0 }
        do {
            let program = try ProgramFolder.path(configured: configured) + "/" + service
            let answer = try run(program, arguments + (configurationPath.map { ["--config", $0] } ?? []))
            return Answer(program: service, status: answer.status, text: answer.text)
        } catch {
            Program.end(error, program: command)
        }
    }

    /// Runs two in a pipeline, and waits for both. They end when this process ends.
    ///
    /// - Returns: their exit statuses.
    static func pipe(
        _ first: (service: String, arguments: [String]),
        into second: (service: String, arguments: [String]),
        by command: String
    ) -> (first: Int32, second: Int32) {
        let configured = ProcessInfo.processInfo.environment[StackKeys.programs.name].flatMap { $0.isEmpty ? nil : $0 }
        do {
            let folder = try ProgramFolder.path(configured: configured)
            // Only this process has its other end, so that the first program sees it closed when this process ends.
            let (lifeline, way) = (try pipeEnds(), try pipeEnds())
            let reader = try start("\(folder)/\(second.service)", second.arguments, way.readEnd, .standardOutput)
            let writer = try start("\(folder)/\(first.service)", first.arguments, lifeline.readEnd, way.writeEnd)
            // Otherwise neither would notice the other's end.
            for end in [lifeline.readEnd, way.readEnd, way.writeEnd] { try end.close() }
            writer.waitUntilExit()
            reader.waitUntilExit()
            return (status(writer), status(reader))
        } catch {
            Program.end(error, program: command)
        }
    }

    private static func status(_ process: Process) -> Int32 {
        process.terminationReason == .exit ? process.terminationStatus : 1
    }

    private static func start(
        _ program: String,
        _ arguments: [String],
        _ input: FileHandle,
        _ output: FileHandle
    ) throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        return process
    }

    /// A pipe whose ends children don't inherit unless requested.
    private static func pipeEnds() throws -> (readEnd: FileHandle, writeEnd: FileHandle) {
        var ends: [Int32] = [-1, -1]
        guard Glibc.pipe(&ends) == 0 else { throw StackError("pipe: \(String(cString: strerror(errno)))") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (FileHandle(fileDescriptor: ends[0]), FileHandle(fileDescriptor: ends[1]))
    }

    private static func run(_ program: String, _ arguments: [String]) throws -> (status: Int32, text: String) {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        try process.run()
        let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        let text = String(decoding: bytes, as: UTF8.self)
        return (
            process.terminationReason == .exit ? process.terminationStatus : 1, text.trimmingCharacters(in: .newlines)
        )
    }
}
