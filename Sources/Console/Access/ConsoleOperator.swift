import FoundationEssentials
import IdentityDomain
import JOSE
import ServiceKit

/// An operator as the operators file has them.
struct ConsoleOperator: Sendable, Hashable {
    /// The name in the audit log.
    let name: OperatorName
    let role: ConsoleRole
    /// A name in their certificate; nil for none.
    let certificate: String?
    /// The subject at the issuer; nil for none.
    let subject: ProviderSubject?
}

/// A person as an OpenID provider names them. Never an e-mail: providers give those to others later.
struct ProviderSubject: Sendable, Hashable {
    let issuer: String
    let subject: String
}

/// Who may use the console: the content of the operators file.
///
///     {"operators": [
///       {"name": "ana", "role": "owner", "certificate": "spiffe://example.com/ana"},
///       {"name": "ben", "role": "read", "issuer": "https://accounts.google.com", "subject": "1098…"}
///     ]}
struct OperatorList: Sendable, Hashable {
    /// The most entries.
    static let countMax = 256
    private static let textBytesMax = 512
    private static let members: Set = ["name", "role", "certificate", "issuer", "subject"]

    private var names: Set<String> = []
    private var byCertificate: [String: ConsoleOperator] = [:]
    private var bySubject: [ProviderSubject: ConsoleOperator] = [:]

    /// Nobody.
    static let none = OperatorList()
    private init() {}

    /// Reads a file's content.
    ///
    /// - Throws: what is wrong, as a clause.
    init(_ bytes: [UInt8]) throws(ConfigurationProblem) {
        guard let object = try? JSONObject(parsing: bytes, limits: JSONLimits(bytesMax: 65_536)),
            let entries = object["operators"]?.array, object.members.count == 1
        else { throw ConfigurationProblem("must hold a JSON object with the one member \"operators\", an array") }
        guard 1...Self.countMax ~= entries.count else {
            throw ConfigurationProblem("must name 1 to \(Self.countMax) operators")
        }
        for (index, entry) in entries.enumerated() {
            do throws(ConfigurationProblem) {
                try add(entry.object)
            } catch {
                throw ConfigurationProblem("has a fault in operator \(index + 1): \(error.text)")
            }
        }
    }

    /// The operator whose certificate has one of these names.
    func operatorOf(certificateNames: [String]) -> ConsoleOperator? {
        certificateNames.lazy.compactMap { byCertificate[$0] }.first
    }

    /// The operator of a subject.
    func operatorOf(_ subject: ProviderSubject) -> ConsoleOperator? { bySubject[subject] }

    private mutating func add(_ entry: JSONObject?) throws(ConfigurationProblem) {
        guard let entry else { throw ConfigurationProblem("it is no object") }
        if let unknown = entry.members.first(where: { !Self.members.contains($0.name) }) {
            throw ConfigurationProblem("it has the unknown member \(unknown.name.debugDescription)")
        }
        func text(_ member: String) throws(ConfigurationProblem) -> String? {
            guard let value = entry[member] else { return nil }
            guard let text = value.string, 1...Self.textBytesMax ~= text.utf8.count else {
                throw ConfigurationProblem("\(member) must be a text of 1 to \(Self.textBytesMax) bytes")
            }
            return text
        }
        guard let name = try text("name").flatMap({ OperatorName($0) }) else {
            throw ConfigurationProblem("name must be 1 to 64 letters, digits, dots, hyphens, underscores and at signs")
        }
        guard let role = try text("role").flatMap({ ConsoleRole(rawValue: $0) }) else {
            throw ConfigurationProblem("role must be read, support or owner")
        }
        let (issuer, subject) = (try text("issuer"), try text("subject"))
        guard (issuer == nil) == (subject == nil) else { throw ConfigurationProblem("issuer and subject go together") }
        let known = ConsoleOperator(
            name: name,
            role: role,
            certificate: try text("certificate"),
            subject: issuer.flatMap { issuer in subject.map { ProviderSubject(issuer: issuer, subject: $0) } }
        )
        guard known.certificate != nil || known.subject != nil else {
            throw ConfigurationProblem("it needs certificate, or issuer and subject")
        }
        guard names.insert(name.value).inserted else {
            throw ConfigurationProblem("its name is another operator's")
        }
        if let certificate = known.certificate, byCertificate.updateValue(known, forKey: certificate) != nil {
            throw ConfigurationProblem("its certificate is another operator's")
        }
        if let subject = known.subject, bySubject.updateValue(known, forKey: subject) != nil {
            throw ConfigurationProblem("its issuer and subject are another operator's")
        }
    }
}
