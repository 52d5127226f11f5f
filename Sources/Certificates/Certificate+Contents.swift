import COpenSSL

extension Certificate {
    /// An extension of a certificate (RFC 5280 section 4.2).
    public struct Extension: Sendable, Hashable {
        /// Whether a reader that doesn't know it must reject the certificate.
        public let isCritical: Bool
        /// The octets of `extnValue`: DER of the extension's own type.
        public let value: [UInt8]
    }

    /// An attribute of a name (RFC 5280 appendix A.1).
    public enum Attribute: Sendable, Hashable, CaseIterable {
        /// `C`, two letters.
        case country
        /// `O`.
        case organization
        /// `OU`.
        case organizationalUnit
        /// `CN`.
        case commonName

        fileprivate var number: Int32 {
            switch self {
            case .country: NID_countryName
            case .organization: NID_organizationName
            case .organizationalUnit: NID_organizationalUnitName
            case .commonName: NID_commonName
            }
        }
    }

    /// The maximum length of a subject's attribute in bytes of UTF-8.
    public static let attributeBytesMax = 1024

    /// The extension with this object identifier, such as `1.2.840.113635.100.8.2`; nil if there is none, or more than one.
    public func `extension`(_ identifier: String) -> Extension? {
        let indices = indices(of: identifier)
        guard indices.count == 1, let found = X509_get_ext(pointer, indices[0]),
            let octets = X509_EXTENSION_get_data(found), let value = Self.bytes(octets)
        else { return nil }
        return Extension(isCritical: X509_EXTENSION_get_critical(found) == 1, value: value)
    }

    /// Whether there is an extension with this object identifier, or more than one.
    public func has(_ identifier: String) -> Bool { !indices(of: identifier).isEmpty }

    /// Whether the subject has no attribute: then the alternative names say whose certificate it is (RFC 5280 section 4.2.1.6).
    public var isSubjectEmpty: Bool {
        X509_get_subject_name(pointer).map { X509_NAME_entry_count($0) == 0 } ?? true
    }

    /// Whether its basic constraints say that it may not sign certificates. Without them it may not either, but doesn't say so.
    public var isEndEntity: Bool {
        let flags = X509_get_extension_flags(pointer)
        return flags & UInt32(EXFLAG_BCONS) != 0 && flags & UInt32(EXFLAG_CA) == 0
    }

    /// The value of an attribute of the subject; nil if it is missing, repeated, empty or too long.
    public func subject(_ attribute: Attribute) -> String? {
        defer { ERR_clear_error() }
        guard let name = X509_get_subject_name(pointer) else { return nil }
        let index = X509_NAME_get_index_by_NID(name, attribute.number, -1)
        guard index >= 0, X509_NAME_get_index_by_NID(name, attribute.number, index) < 0,
            let entry = X509_NAME_get_entry(name, index), let data = X509_NAME_ENTRY_get_data(entry)
        else { return nil }
        var output: UnsafeMutablePointer<UInt8>?
        let count = Int(ASN1_STRING_to_UTF8(&output, data))
        guard let output else { return nil }
        defer { vestibule_openssl_free(output) }
        guard 1...Self.attributeBytesMax ~= count else { return nil }
        return String(validating: UnsafeBufferPointer(start: output, count: count), as: UTF8.self)
    }

    /// Where the first two extensions with this object identifier are.
    private func indices(of identifier: String) -> [Int32] {
        defer { ERR_clear_error() }
        guard let object = OBJ_txt2obj(identifier, 1) else { return [] }
        defer { ASN1_OBJECT_free(object) }
        let first = X509_get_ext_by_OBJ(pointer, object, -1)
        guard first >= 0 else { return [] }
        let second = X509_get_ext_by_OBJ(pointer, object, first)
        return second < 0 ? [first] : [first, second]
    }

    private static func bytes(_ string: UnsafePointer<ASN1_OCTET_STRING>) -> [UInt8]? {
        guard let start = ASN1_STRING_get0_data(string) else { return nil }
        return Array(UnsafeBufferPointer(start: start, count: Int(ASN1_STRING_length(string))))
    }
}
