/// Takes the messages of one direction of a call. The transport calls one function at a time, in the order of arrival.
public protocol MessageReceiver: AnyObject, Sendable {
    /// A message, whose bytes are valid until this returns.
    func receive(_ message: UnsafeRawBufferPointer)
    /// A compressed message, which is inflated when it is read: until then it takes no more memory than it took of the
    /// window.
    func receive(compressed message: CompressedMessage)
    /// Nothing follows; with an error the call has ended otherwise than its peer said, and what was not read is dropped.
    func receiveEnd(_ error: RPCError?)
}
