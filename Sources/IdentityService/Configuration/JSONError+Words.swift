import JOSE

extension JSONError {
    /// Why a file holds no JSON object, as a clause: `line 3 is not as RFC 8259 has it`.
    ///
    /// - Parameters:
    ///   - limits: those that it was read with.
    ///   - bytes: what it holds.
    func words(_ limits: JSONLimits, _ bytes: [UInt8]) -> String {
        switch self {
        case .tooLarge: "it is longer than \(limits.bytesMax) bytes"
        case .tooDeep: "it is nested deeper than \(limits.depthMax)"
        case .tooManyValues: "it has more than \(limits.valuesMax) values"
        case .duplicateMember: "an object has a member twice"
        case .syntax where bytes.starts(with: [0xEF, 0xBB, 0xBF]):
            "it begins with a byte order mark, which JSON has not"
        case .syntax(let offset):
            "line \(1 + bytes.prefix(offset).count { $0 == UInt8(ascii: "\n") }) is not as RFC 8259 has it"
        case .notAnObject: "it holds something else"
        }
    }
}
