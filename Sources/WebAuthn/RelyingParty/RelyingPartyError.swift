/// Why a relying party's configuration was rejected. The values are the configuration's own texts.
public enum RelyingPartyError: Error, Sendable, Hashable {
    /// The id is not `localhost`, nor a domain of two or more labels in lower case. An IP address is none.
    case idIsNoDomain(String)
    /// There is no origin.
    case noOrigins
    /// There are more origins than ``RelyingParty/originsMax``.
    case tooManyOrigins(Int)
    /// An origin is not written as clients write it, so that no response could ever match it.
    case origin(String, OriginError)
}

/// What is wrong with an origin.
public enum OriginError: Error, Sendable, Hashable, CaseIterable {
    /// It begins neither with `https://` nor with `android:apk-key-hash:`.
    case unknownScheme
    /// It begins with `http://`, and its host is not `localhost`.
    case insecure
    /// It ends with a slash.
    case trailingSlash
    /// A path, a query or a fragment follows.
    case hasPath
    /// The host has upper-case letters; clients write it in lower case.
    case uppercaseHost
    /// The host is no domain.
    case invalidHost
    /// The port is no number from 1 to 65535 without a zero in front.
    case invalidPort
    /// The port is the scheme's default, 443 or 80, which clients leave out.
    case defaultPort
    /// The hash of the app's certificate is not the base64url, without padding, of 32 bytes.
    case invalidKeyHash
}
