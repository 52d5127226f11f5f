import JOSE
import ServiceKit

/// Reads the members of one object of the providers file. An invalid member is reported and read as nil, so that the others are
/// checked too. A member's value is never shown: it may contain a secret.
struct EntryReader {
    /// The object.
    let object: JSONObject
    /// The owner of the object, such as `provider "apple"`.
    let place: String
    /// Collects the errors and hints.
    let findings: ProviderFindings
    /// The key that names the file.
    var key = IdentityKeys.providersFile.name

    /// Reports an error.
    func fault(_ problem: String) {
        findings.fault(key, "\(place): \(problem)")
    }

    /// Reports a hint.
    func hint(_ problem: String) {
        findings.hint(key, "\(place): \(problem)")
    }

    /// Returns whether the object has a member of that name, valid or not.
    func has(_ name: String) -> Bool { object[name] != nil }

    /// Reports unknown members: most likely a misspelt name, whose setting would silently keep its default.
    func expect(_ members: Set<String>) {
        for member in object.members where !members.contains(member.name) {
            fault("has an unknown member \(ProviderFindings.quoted(member.name))")
        }
    }

    /// A text; nil if there is none.
    func text(_ name: String, bytesMax: Int = 255) -> String? {
        guard let value = object[name] else { return nil }
        guard let text = value.string, 1...bytesMax ~= text.utf8.count else {
            fault("\"\(name)\" must be a text of 1 to \(bytesMax) bytes")
            return nil
        }
        return text
    }

    /// An array of texts; nil if there is none.
    func texts(_ name: String, countMax: Int) -> [String]? {
        guard let value = object[name] else { return nil }
        let texts = value.array?.compactMap(\.string)
        guard let texts, texts.count == value.array?.count, texts.count <= countMax,
            texts.allSatisfy({ 1...255 ~= $0.utf8.count })
        else {
            fault("\"\(name)\" must be an array of texts of 1 to 255 bytes, at most \(countMax)")
            return nil
        }
        return texts
    }

    /// One of an enumeration's words, or the default.
    func choice<Choice: CaseIterable & RawRepresentable>(_ name: String, default: Choice) -> Choice?
    where Choice.RawValue == String {
        guard let value = object[name] else { return `default` }
        guard let choice = value.string.flatMap(Choice.init(rawValue:)) else {
            fault("\"\(name)\" must be one of \(Choice.allCases.map(\.rawValue).joined(separator: ", "))")
            return nil
        }
        return choice
    }

    /// Whole seconds within a range, or the default.
    func seconds(_ name: String, in range: ClosedRange<Int64>, default: Int64?) -> Int64? {
        guard let value = object[name] else { return `default` }
        guard let seconds = value.integer, range.contains(seconds) else {
            fault("\"\(name)\" must be a whole number from \(range.lowerBound) to \(range.upperBound)")
            return nil
        }
        return seconds
    }

    /// A boolean, or the default.
    func bool(_ name: String, default: Bool) -> Bool? {
        guard let value = object[name] else { return `default` }
        guard let bool = value.bool else {
            fault("\"\(name)\" must be true or false")
            return nil
        }
        return bool
    }

    /// The content of a file that a member names; nil if there is none.
    func secret(_ name: String, in file: ConfiguredFile, bytesMax: Int) -> Secret? {
        guard let path = text(name, bytesMax: 4096) else { return nil }
        do throws(ConfigurationProblem) {
            return try file.read(path, bytesMax: bytesMax)
        } catch {
            fault("\"\(name)\" \(error.text)")
            return nil
        }
    }
}
