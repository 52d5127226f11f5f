import COpenSSL
import Models

/// The ids of imported accounts.
public enum ImportedID {
    /// The longest old id, in bytes: Firebase's have up to 128.
    public static let bytesMax = 128
    /// The namespace of ids that are derived from others (RFC 9562, section 5.5).
    public static let namespace = UserID(high: 0x9b1f_6c02_5d3e_4f0a, low: 0x8e47_a1c3_70d2_b96e)

    /// The account's id here: a UUID is kept; anything else becomes the version 5 UUID of `source:id`.
    ///
    /// - Parameter source: the name under which old ids are stored, so that those of two backends don't collide.
    /// - Returns: nil for an id that can't be kept: an empty or too long one, one with invisible characters, or the nil UUID.
    public static func userID(of oldID: String, source: String) -> UserID? {
        if let userID = UserID(oldID) { return userID.high | userID.low == 0 ? nil : userID }
        guard 1...bytesMax ~= oldID.utf8.count, oldID.unicodeScalars.allSatisfy({ isKept($0) }) else { return nil }
        return named("\(source):\(oldID)", in: namespace)
    }

    /// The version 5 UUID of a name.
    static func named(_ name: String, in namespace: UserID) -> UserID? {
        let text = namespace.bytes + Array(name.utf8)
        var digest = [UInt8](unsafeUninitializedCapacity: Int(SHA_DIGEST_LENGTH)) { buffer, count in
            // This digest protects nothing: version 5 is defined with SHA-1.
            _ = COpenSSL.SHA1(text, text.count, buffer.baseAddress)
            count = Int(SHA_DIGEST_LENGTH)
        }
        digest[6] = digest[6] & 0x0f | 0x50
        digest[8] = digest[8] & 0x3f | 0x80
        return UserID(bytes: digest.prefix(16))
    }

    /// Returns whether a character may be part of an id that people search for.
    static func isKept(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .lineSeparator, .paragraphSeparator, .unassigned: false
        default: true
        }
    }
}
