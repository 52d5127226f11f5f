/// A received message that is still compressed.
public struct CompressedMessage: Sendable {
    /// The bytes as they came.
    public let bytes: [UInt8]
    private let inflate: @Sendable ([UInt8]) throws(RPCError) -> [UInt8]

    /// Bytes, and the function that inflates them, within the limit on messages.
    public init(_ bytes: [UInt8], inflate: @escaping @Sendable ([UInt8]) throws(RPCError) -> [UInt8]) {
        self.bytes = bytes
        self.inflate = inflate
    }

    /// What it holds. Throws INTERNAL where the bytes are not what their encoding says, RESOURCE_EXHAUSTED where it is
    /// too large.
    public func inflated() throws(RPCError) -> [UInt8] { try inflate(bytes) }
}
