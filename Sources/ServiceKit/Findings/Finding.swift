/// What an operator should look at: one line, with what mends it.
public struct Finding: Sendable, Hashable, Codable {
    /// How much it hurries.
    public enum Severity: String, Sendable, Codable {
        /// Users notice, or the program doesn't start.
        case failure
        /// Users will notice, if nothing is done.
        case warning
    }

    /// How much it hurries.
    public let severity: Severity
    /// The setting, or the program and where it is.
    public let subject: String
    /// What is wrong, as a clause that follows the subject. Never holds a secret.
    public let problem: String
    /// What mends it; nil where the problem says so already.
    public let mend: String?

    /// A finding.
    public init(_ severity: Severity, _ subject: String, _ problem: String, mend: String? = nil) {
        self.severity = severity
        self.subject = subject
        self.problem = problem
        self.mend = mend
    }

    /// A failure of a setting.
    public init(_ error: ConfigurationError, _ severity: Severity = .failure) {
        self.init(severity, error.key, error.problem)
    }

    /// Problem and mend.
    public var text: String { mend.map { "\(problem); \($0)" } ?? problem }

    /// One line for people.
    public var line: String { "\(severity.rawValue): \(subject.printable) \(text.printable)" }
}

extension Finding {
    /// What is wrong with a program's settings, each key of which has a valid value.
    public static func faults(_ read: () throws -> Void) -> [Finding] {
        do {
            try read()
            return []
        } catch let errors as ConfigurationErrors {
            return errors.faults.map { Finding($0) }
        } catch {
            return [Finding(.failure, "configuration", "can't be used: \(error)")]
        }
    }
}

extension [Finding] {
    /// Each once, the worst first. Those that differ in nothing but the subject are one, with all the subjects.
    public var merged: [Finding] {
        var subjects: [Finding: [String]] = [:]
        var order: [Finding] = []
        for finding in self {
            let rest = Finding(finding.severity, "", finding.problem, mend: finding.mend)
            if subjects[rest] == nil { order.append(rest) }
            if subjects[rest, default: []].contains(finding.subject) { continue }
            subjects[rest, default: []].append(finding.subject)
        }
        let all = order.map { rest in
            Finding(
                rest.severity,
                subjects[rest, default: []].joined(separator: ", "),
                rest.problem,
                mend: rest.mend
            )
        }
        return all.filter { $0.severity == .failure } + all.filter { $0.severity == .warning }
    }

    /// Whether something fails.
    public var hasFailure: Bool { contains { $0.severity == .failure } }
}
