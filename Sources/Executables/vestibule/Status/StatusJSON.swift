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
        let started_at: Double?
        let calls: Double?
        let failed_calls: Double?
        let database_connections: Double?
        let database_clock_offset_seconds: Double?
        let database_timeline: Double?
        let memory_bytes: Double?
        let certificate_end: Double?

        init(_ status: ProgramStatus) {
            program = status.program
            address = "\(status.address)"
            answers = status.reading != nil
            version = status.version
            ready = status.isReady
            started_at = status.startedAt
            calls = status.calls?.all
            failed_calls = status.calls?.failed
            database_connections = status.databaseConnections
            database_clock_offset_seconds = status.reading?.value("vestibule_database_clock_offset_seconds")
            database_timeline = status.reading?.value("vestibule_database_timeline")
            memory_bytes = status.memoryBytes
            certificate_end = status.certificateEnd
        }
    }

    private struct Finding: Encodable {
        let severity: String
        let subject: String
        let text: String
    }

    private let programs: [Program]
    private let findings: [Finding]

    init(_ table: StatusTable) {
        programs = table.programs.map(Program.init)
        findings = table.findings.map {
            Finding(severity: $0.severity.rawValue, subject: $0.subject, text: $0.text)
        }
    }

    /// The line.
    func text() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
}
