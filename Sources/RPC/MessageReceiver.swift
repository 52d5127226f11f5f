/// Takes the messages of one direction of a call. The transport calls one function after the other, in the order of arrival.
public protocol MessageReceiver: AnyObject, Sendable {
    /// A message arrived. Its bytes are valid until this returns.
    func receive(_ message: UnsafeRawBufferPointer)
    /// A compressed message arrived. It is inflated when the handler reads it, so that until then it takes no more memory than
    /// it took of the flow-control window.
    func receive(compressed message: CompressedMessage)
    /// No message follows. Without an error the peer has sent END_STREAM. With one the call has ended in another way, and
    /// messages that were not read yet are dropped.
    func receiveEnd(_ error: RPCError?)
}
