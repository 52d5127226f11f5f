import Foundation
import ServiceKit

/// The status of a system as one line of JSON.
struct StatusJSON: Encodable {
    private struct Program: Encodable {
        let program: String
        let address: String
        let answers: Bool
        let version: String?
        let ready: Bool?
        let startedAt: Double?
        let calls: Double?
        let failedCalls: Double?
        let databaseConnections: Double?
        let databaseClockOffsetSeconds: Double?
        let databaseTimeline: Double?
        let memoryBytes: Double?
        let certificateEnd: Double?

        init(_ status: ProgramStatus) {
            program = status.program
            address = "\(status.address)"
            answers = status.reading != nil
            version = status.version
            ready = status.isReady
            startedAt = status.startedAt
            calls = status.calls?.all
            failedCalls = status.calls?.failed
            databaseConnections = status.databaseConnections
            databaseClockOffsetSeconds = status.reading?.value("vestibule_database_clock_offset_seconds")
            databaseTimeline = status.reading?.value("vestibule_database_timeline")
            memoryBytes = status.memoryBytes
            certificateEnd = status.certificateEnd
        }
    }

    private let programs: [Program]
    private let system: SystemStatus
    private let findings: [Finding]

    init(_ table: StatusTable) {
        programs = table.programs.map(Program.init)
        system = table.system
        findings = table.findings
    }

    /// The line.
    func text() throws -> String {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
}
