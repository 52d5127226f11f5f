import JOSE

/// The names of the fields that a JSON object may have, as the description of its route has them, and those of the objects in it.
public struct JSONFieldNames: Sendable {
    /// Unknown fields that are named in one answer.
    static let reportedMax = 16
    /// Bytes of a client's name that an answer repeats, and the longest name for which a similar one is looked for.
    static let nameBytesMax = 64

    /// By name, what the field's own object, or the objects of its array, may have; nil where everything is allowed.
    private let fields: [String: JSONFieldNames?]

    /// The names of an object's fields.
    public init(_ fields: [String: JSONFieldNames?]) { self.fields = fields }

    /// A fault for each field that is not known, with its path; the first ``reportedMax`` of them.
    func faults(of object: JSONObject, prefix: String = "") -> [Problem.Field] {
        var faults: [Problem.Field] = []
        collect(object, prefix, &faults)
        return faults
    }

    private func collect(_ object: JSONObject, _ prefix: String, _ faults: inout [Problem.Field]) {
        for member in object.members where faults.count < Self.reportedMax {
            guard let known = fields[member.name] else {
                faults.append(fault(of: member.name, prefix))
                continue
            }
            guard let inner = known else { continue }
            if let object = member.value.object { inner.collect(object, "\(prefix)\(member.name).", &faults) }
            for (index, element) in (member.value.array ?? []).enumerated() where faults.count < Self.reportedMax {
                if let object = element.object { inner.collect(object, "\(prefix)\(member.name)[\(index)].", &faults) }
            }
        }
    }

    private func fault(of name: String, _ prefix: String) -> Problem.Field {
        let hint = similarName(to: name).map { " Did you mean \($0)?" } ?? ""
        let shown = String(decoding: name.utf8.prefix(Self.nameBytesMax), as: UTF8.self)
        return .init(prefix + shown, code: "UNKNOWN_FIELD", detail: "There is no such field here.\(hint)")
    }

    /// The known name that a client probably meant: the same letters in another notation, or at most two letters away.
    private func similarName(to name: String) -> String? {
        guard name.utf8.count <= Self.nameBytesMax else { return nil }
        let letters = Self.letters(name)
        let nearest = fields.keys.sorted().map { ($0, Self.distance(letters, Self.letters($0))) }.min { $0.1 < $1.1 }
        guard let (known, distance) = nearest, distance <= min(2, letters.count / 3) else { return nil }
        return known
    }

    /// A name without what notations differ in: `displayName` and `display_name` are equal.
    private static func letters(_ name: String) -> [UInt8] {
        name.lowercased().utf8.filter { $0 != UInt8(ascii: "_") && $0 != UInt8(ascii: "-") }
    }

    /// The number of letters to insert, remove or replace (Levenshtein).
    private static func distance(_ first: [UInt8], _ second: [UInt8]) -> Int {
        var row = Array(0...second.count)
        for (index, letter) in first.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for (column, other) in second.enumerated() {
                let replaced = diagonal + (letter == other ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, diagonal + 1, row[column] + 1)
            }
        }
        return row[second.count]
    }
}
