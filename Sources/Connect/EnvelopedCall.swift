import HTTP
import RPC
import RPCTransport
import Synchronization

/// A call with enveloped messages, the last of which has the call's status: streams of Connect, and all calls of gRPC-Web.
/// Subclasses define the head and the last envelope.
class EnvelopedCall: ExchangeCall, @unchecked Sendable {
    // Safe for the same reason as its superclass.

    /// The flag of a compressed message, in all protocols.
    static let compressedFlag: UInt8 = 1

    private struct Answer {
        /// The fields for the head of a unary call.
        var metadata = Metadata()
        var hasMetadata = false
        var sendsGzip = false
        var hasHead = false
        var isOver = false
    }
    private let answer = Mutex(Answer())
    private let compression: Compression

    // The following properties are used only on the exchange's executor.
    private var reader: EnvelopeReader
    private var text: Base64Reader?
    /// The message of a request with one message, until the request has ended.
    private var only: (message: [UInt8], isCompressed: Bool)?
    private var cameCompressed = false
    private var receiver: (any MessageReceiver)?
    /// Whether the body's deadline is that of a message of a stream.
    private var isMessageLimited = false
    /// Whether the rest of the request is ignored.
    private var isBroken = false
    private let held = Mutex(HeldBytes())

    /// The received bytes of a stream that were not read yet.
    private struct HeldBytes {
        /// Bytes of complete messages that were not given back to the flow-control window yet.
        var owed = 0
        /// Bytes counted as held for the client. They were given back to the window, so that a message may exceed the window.
        var kept = 0
    }

    init(_ request: borrowing Request, _ deadline: Deadline?, _ compression: Compression, isText: Bool) {
        self.compression = compression
        reader = EnvelopeReader(messageBytesMax: request.rules.messageBytesMax)
        text = isText ? Base64Reader() : nil
        super.init(request, deadline)
    }

    override var isRequestCompressed: Bool { cameCompressed }

    // MARK: Differences between the protocols

    /// The fields of the response's head, without metadata.
    func headFields(sendsGzip: Bool) -> Metadata { preconditionFailure("overridden") }

    /// The last envelope, with the call's status.
    func lastEnvelope(_ error: RPCError?, trailers: Metadata) -> MessageBuffer { preconditionFailure("overridden") }

    /// Ends the call with an error before anything was sent.
    func failAtOnce(_ error: RPCError, fields: Metadata, trailers: Metadata) { preconditionFailure("overridden") }

    /// The encoded form of bytes of the response.
    func written(_ bytes: MessageBuffer) -> MessageBuffer { bytes }

    // MARK: Request

    override func begin() {
        super.begin()
        guard !handler.takesOneRequest, !hasEnded else { return }
        // A stream may last; only a message that has begun must be complete in time.
        exchange.setBodyDeadline(nil)
        receiver = startStream()
    }

    override func receive(_ bytes: UnsafeRawBufferPointer) {
        guard !isBroken, !hasEnded else { return drop(bytes.count) }
        guard var text else { return take(bytes) }
        let undecodedByteCount = text.count + bytes.count
        guard let plain = text.read(bytes) else {
            drop(bytes.count)
            return endBroken(RPCError(.invalidArgument, "the body is not base64"))
        }
        self.text = text
        // Characters of an incomplete group are given back with the group's bytes.
        drop(undecodedByteCount - text.count - plain.count)
        plain.withUnsafeBytes { take($0) }
    }

    override func receiveEnd(_ failure: HTTPBodyFailure?) {
        defer { receiver = nil }
        if isBroken { return giveUp() }
        if let failure {
            let error = Self.error(of: failure)
            if let error { end(error) } else { giveUp() }
            receiver?.receiveEnd(error ?? RPCError(.cancelled, "the caller ended the call"))
        } else if reader.isInside || text?.isAtEnd == false {
            endBroken(RPCError(.invalidArgument, "the request ends within a message"))
        } else if let receiver {
            receiver.receiveEnd(nil)
        } else if let only {
            self.only = nil
            only.message.withUnsafeBytes { startMaybeInflating($0, isCompressed: only.isCompressed) }
        } else {
            refuse(RPCError(.unimplemented, "the method takes one request message, and there is none"))
        }
    }

    override func abandonRequest(_ error: RPCError) { receiver?.receiveEnd(error) }

    /// Gives back bytes that are not kept.
    private func drop(_ byteCount: Int) {
        if byteCount > 0 { exchange.consume(byteCount: byteCount, keeps: false) }
    }

    /// The request breaks the protocol.
    private func endBroken(_ error: RPCError) {
        isBroken = true
        only = nil
        end(error)
    }

    private func take(_ bytes: UnsafeRawBufferPointer) {
        var wholeByteCount = 0
        var fault: RPCError?
        let outcome = reader.read(bytes) { envelope in
            wholeByteCount += envelope.newByteCount
            do throws(RPCError) {
                try take(envelope)
            } catch {
                fault = error
            }
            return fault == nil
        }
        switch outcome {
        case .readAll: break
        case .tooLarge: fault = Self.tooLarge
        case .stopped: drop(bytes.count - wholeByteCount)
        }
        if let fault { return endBroken(fault) }
        if receiver != nil { limitPartialMessage(isNew: wholeByteCount > 0) }
        // Bytes of an incomplete message are given back, since otherwise a message larger than the window would never complete.
        let partialByteCount = bytes.count - wholeByteCount
        guard partialByteCount > 0 else { return }
        held.withLock { $0.kept += partialByteCount }
        if !exchange.consume(byteCount: partialByteCount, keeps: true) { endBroken(Self.holdsTooMuch) }
    }

    /// Sets the time when an incomplete message must be complete. `isNew`: the previous message ended in the same bytes.
    private func limitPartialMessage(isNew: Bool) {
        guard reader.isInside != isMessageLimited || reader.isInside && isNew else { return }
        isMessageLimited = reader.isInside
        exchange.setBodyDeadline(reader.isInside ? .after(rules.messageTimeout) : nil)
    }

    private func take(_ envelope: EnvelopeReader.Envelope) throws(RPCError) {
        guard envelope.flags & ~Self.compressedFlag == 0 else {
            throw RPCError(.invalidArgument, "an envelope has flags that a request may not have")
        }
        let isCompressed = envelope.flags == Self.compressedFlag
        guard !isCompressed || compression.isGzip else {
            throw RPCError(.invalidArgument, "a message is compressed, and the request names no compression")
        }
        if let receiver {
            held.withLock { $0.owed += envelope.newByteCount }
            // An empty message is not inflated.
            if isCompressed, !envelope.message.isEmpty {
                receiver.receive(compressed: Gzip.message(envelope.message, byteCountMax: rules.messageBytesMax))
            } else {
                receiver.receive(envelope.message)
            }
            return
        }
        guard only == nil, !isStarted else {
            drop(envelope.newByteCount)
            throw RPCError(.unimplemented, "the method takes one request message, and there are more")
        }
        guard exchange.consume(byteCount: envelope.newByteCount, keeps: true) else { throw Self.holdsTooMuch }
        if envelope.newByteCount == exchange.head.contentLength {
            startMaybeInflating(envelope.message, isCompressed: isCompressed)
        } else {
            only = (Array(envelope.message), isCompressed)
        }
    }

    private func startMaybeInflating(_ bytes: UnsafeRawBufferPointer, isCompressed: Bool) {
        cameCompressed = isCompressed
        guard isCompressed, !bytes.isEmpty else { return start(bytes) }
        do {
            let plain = try Gzip.inflate(bytes, byteCountMax: rules.messageBytesMax)
            plain.withUnsafeBytes { start($0) }
        } catch {
            refuse(error.code == .internalError ? RPCError(.invalidArgument, error.message) : error)
        }
    }

    override func consume(byteCount: Int) {
        let (owed, kept) = held.withLock { held in
            let owed = min(held.owed, byteCount + MessageBuffer.prefixByteCount)
            let kept = min(held.kept, byteCount + MessageBuffer.prefixByteCount - owed)
            held.owed -= owed
            held.kept -= kept
            return (owed, kept)
        }
        if owed > 0 { exchange.consume(byteCount: owed, keeps: false) }
        if kept > 0 { exchange.release(byteCount: kept) }
    }

    // MARK: Response

    override func sendInitialMetadata(_ metadata: Metadata) async throws(RPCError) {
        guard metadata.sendable == metadata else {
            throw RPCError(.internalError, "the metadata has an entry that may not be sent")
        }
        if method.kind == .unary {
            // It is sent with the response, since the head has the status.
            let isFirst = answer.withLock { answer in
                guard !answer.hasMetadata, !answer.isOver else { return false }
                answer.hasMetadata = true
                answer.metadata = metadata
                return true
            }
            guard !hasEnded else { throw .ended(self) }
            if !isFirst { throw RPCError(.internalError, "the answer has begun already") }
        } else {
            switch await sendHead(metadata) {
            case .sent: break
            case .wasSent: throw RPCError(.internalError, "the answer has begun already")
            case .ended: throw .ended(self)
            }
        }
    }

    private enum HeadOutcome { case sent, wasSent, ended }

    private func sendHead(_ metadata: Metadata) async -> HeadOutcome {
        await withTaskExecutorPreference(exchange.executor) {
            let sendsGzip: Bool? = self.answer.withLock { answer in
                guard !answer.hasHead, !answer.isOver else { return nil }
                answer.hasHead = true
                return answer.sendsGzip
            }
            guard let sendsGzip else { return self.hasEnded ? .ended : .wasSent }
            let fields = self.fields(sendsGzip: sendsGzip, metadata)
            return self.exchange.sendHead(status: 200, fields: fields, contentLength: nil) ? .sent : .ended
        }
    }

    private func fields(sendsGzip: Bool, _ metadata: Metadata) -> Metadata {
        var fields = headFields(sendsGzip: sendsGzip)
        if !addedFields.isEmpty { fields.add(contentsOf: addedFields) }
        if !metadata.isEmpty { fields.add(contentsOf: metadata) }
        return fields
    }

    override func compressResponses() async -> Bool {
        guard compression.acceptsGzip, !hasEnded else { return false }
        return answer.withLock { answer in
            guard !answer.hasHead, !answer.hasMetadata, !answer.isOver else { return false }
            answer.sendsGzip = true
            return true
        }
    }

    override func send(_ message: MessageBuffer) async throws(RPCError) {
        let (hasHead, sendsGzip) = answer.withLock { ($0.hasHead, $0.sendsGzip) }
        if !hasHead, await sendHead(Metadata()) == .ended { throw .ended(self) }
        guard !hasEnded else { throw .ended(self) }
        try await exchange.send(written(Self.envelope(message, isCompressed: sendsGzip)))
    }

    /// A message in its envelope, compressed if that makes it shorter.
    private static func envelope(_ message: MessageBuffer, isCompressed: Bool) -> MessageBuffer {
        guard isCompressed, let deflated = Gzip.deflate(message) else { return message.framed(flags: 0) }
        return deflated.framed(flags: compressedFlag)
    }

    /// The final fields of the head; nil if the call has ended already.
    private func takeAnswer() -> Answer? {
        guard !hasEnded else { return nil }
        return answer.withLock { answer in
            guard !answer.isOver else { return nil }
            answer.isOver = true
            return answer
        }
    }

    override func respond(_ message: MessageBuffer, trailers: Metadata) {
        guard let answer = takeAnswer() else { return }
        let envelope = Self.envelope(message, isCompressed: answer.sendsGzip)
        finish(answer, written(envelope.followed(by: lastEnvelope(nil, trailers: trailers))), .ok)
    }

    override func finish(trailers: Metadata) {
        guard let answer = takeAnswer() else { return }
        finish(answer, written(lastEnvelope(nil, trailers: trailers)), .ok)
    }

    override func fail(_ error: RPCError, trailers: Metadata) {
        guard let answer = takeAnswer() else { return }
        var all = trailers
        all.add(contentsOf: error.metadata)
        if answer.hasHead {
            finish(answer, written(lastEnvelope(error, trailers: all)), error.code)
        } else {
            exchange.callEnded(error.code)
            failAtOnce(error, fields: fields(sendsGzip: false, answer.metadata), trailers: all)
        }
    }

    private func finish(_ answer: Answer, _ last: MessageBuffer, _ code: Status.Code) {
        exchange.callEnded(code)
        if answer.hasHead {
            exchange.finish(with: last, trailers: Metadata())
        } else {
            let fields = fields(sendsGzip: answer.sendsGzip, answer.metadata)
            last.withUnsafeBytes { exchange.respond(status: 200, fields: fields, body: $0) }
        }
    }
}

extension MessageBuffer {
    /// The bytes of both buffers.
    fileprivate func followed(by other: MessageBuffer) -> MessageBuffer {
        var both = MessageBuffer(repeating: 0, count: count + other.count)
        both.withUnsafeMutableBytes { target in
            withUnsafeBytes { target.copyMemory(from: $0) }
            other.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: target[count...]).copyMemory(from: $0) }
        }
        return both
    }
}
