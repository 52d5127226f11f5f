import Foundation
import Glibc
import LocalStack
import ServiceCommands
import ServiceKit
import Synchronization

/// Runs `doctor` of one program, for at most ``limitSeconds``.
struct ProgramDoctor: Sendable {
    let program: String
    let configurationPath: String?

    /// Longer than all time limits of its steps together: the database's, the providers', and those of names.
    private static let limitSeconds = 60.0

    /// Held from the making of a pipe to the start of its program: a program that another thread starts meanwhile would inherit the pipe,
    /// and hold it open for as long as it runs.
    private static let starts = NSLock()

    /// What it found. What it found before it was ended counts.
    func findings() -> [Finding] {
        let configured = ProcessInfo.processInfo.environment[StackKeys.programs.name].flatMap { $0.isEmpty ? nil : $0 }
        let process: Process
        let output: FileHandle
        do {
            (process, output) = try started(ProgramFolder.path(configured: configured) + "/" + program)
        } catch {
            return [
                Finding(
                    .failure,
                    program,
                    "can't be asked: its program can't be started",
                    mend: "name the programs' folder in \(StackKeys.programs.name); in containers use docker/doctor.sh"
                )
            ]
        }
        let isLate = Mutex(false)
        let end = DispatchWorkItem { [process = process.processIdentifier] in
            isLate.withLock { $0 = true }
            kill(process, SIGKILL)
        }
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.limitSeconds, execute: end)
        let bytes = (try? output.readToEnd()) ?? Data()
        process.waitUntilExit()
        end.cancel()
        return DoctorHelp.findings(lines: String(decoding: bytes, as: UTF8.self))
            + ending(process, isLate: isLate.withLock { $0 })
    }

    private func started(_ path: String) throws -> (Process, output: FileHandle) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = ["doctor", "--json"] + (configurationPath.map { ["--config", $0] } ?? [])
        process.standardInput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        Self.starts.lock()
        defer { Self.starts.unlock() }
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        return (process, output.fileHandleForReading)
    }

    private func ending(_ process: Process, isLate: Bool) -> [Finding] {
        if isLate {
            let problem = "took longer than \(Int(Self.limitSeconds)) s to examine itself, and was ended"
            return [Finding(.failure, program, problem, mend: "its own command `doctor` shows how far it comes")]
        }
        guard process.terminationReason == .exit, (0...2).contains(process.terminationStatus) else {
            return [
                Finding(
                    .failure,
                    program,
                    "ended while it examined itself",
                    mend: "see what its own command `doctor` prints"
                )
            ]
        }
        return []
    }
}
