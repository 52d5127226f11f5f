import COpenSSL
import Models

/// The ids of accounts that come in.
public enum ImportedID {
    /// The longest old id, in bytes: Firebase's has up to 128.
    public static let bytesMax = 128
    /// The namespace of ids that are made of others (RFC 9562, section 5.5).
    public static let namespace = UserID(high: 0x9b1f_6c02_5d3e_4f0a, low: 0x8e47_a1c3_70d2_b96e)

    /// The account's id here: a UUID stays what it is; of anything else it is the UUID of version 5 of `source:id`.
    ///
    /// - Parameter source: the word under which old ids are kept, so that those of two backends don't meet.
    /// - Returns: nil for an id that can't be kept: an empty one, a long one, one with invisible characters, the UUID of zeros.
    public static func userID(of oldID: String, source: String) -> UserID? {
        if let userID = UserID(oldID) { return userID.high | userID.low == 0 ? nil : userID }
        guard 1...bytesMax ~= oldID.utf8.count, oldID.unicodeScalars.allSatisfy({ isKept($0) }) else { return nil }
        return named("\(source):\(oldID)", in: namespace)
    }

    /// The UUID of version 5 of a name.
    static func named(_ name: String, in namespace: UserID) -> UserID? {
        let text = namespace.bytes + Array(name.utf8)
        var digest = [UInt8](unsafeUninitializedCapacity: Int(SHA_DIGEST_LENGTH)) { buffer, count in
            // A name's digest, which protects nothing: version 5 is defined by SHA-1.
            _ = COpenSSL.SHA1(text, text.count, buffer.baseAddress)
            count = Int(SHA_DIGEST_LENGTH)
        }
        digest[6] = digest[6] & 0x0f | 0x50
        digest[8] = digest[8] & 0x3f | 0x80
        return UserID(bytes: digest.prefix(16))
    }

    /// Whether a character may stand in an id that people look for.
    static func isKept(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .lineSeparator, .paragraphSeparator, .unassigned: false
        default: true
        }
    }
}
