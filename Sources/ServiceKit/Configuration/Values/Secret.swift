/// Bytes that must not be printed: passwords and keys. However it is shown, it shows as `***`.
public struct Secret: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The secret itself. Hand it to what needs it; never to a log or an error.
    public let bytes: [UInt8]

    /// A secret of bytes.
    public init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// A secret of text.
    public init(_ text: String) { bytes = Array(text.utf8) }

    /// The secret as text, such as a password or PEM. Bytes that are not UTF-8 are replaced.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Stars.
    public var description: String { "***" }
    /// Stars.
    public var debugDescription: String { "***" }
    /// No children, so that `dump` and string conversion of whatever holds the secret don't reach it.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
