import Connect
import HTTP
import HTTPTypes
import RPC
import Synchronization

/// An exchange whose client the test plays step by step: it sees what the call gives back of the body, says when there is room to
/// send, and leaves when it likes.
final class ScriptedExchange: HTTPExchange, @unchecked Sendable {
    // Sound because a lock guards what changes.

    struct State {
        var status: Int?
        var fields = Metadata()
        var body: [UInt8] = []
        var isFinished = false
        var isLeft = false
        /// Bytes that the client may send again, and of them those that are counted as its own.
        var consumed = 0
        var kept = 0
        var keptMax = Int.max
        var handlersEnded = 0
        var task: Task<Void, Never>?
        var hasRoom = true
        var waiting: [CheckedContinuation<Void, Never>] = []
        var bodyDeadlines: [Bool] = []
        var hasMemory = true
        var began: MethodDescriptor?
        var code: Status.Code?
    }
    private let locked = Mutex(State())
    private var receiver: (any HTTPBodyReceiver)?

    var state: State { locked.withLock { $0 } }

    init(_ call: Call, contentLength: Int? = nil) {
        var head = call.head
        head.hasBody = true
        head.contentLength = contentLength
        super.init(head: head, peer: PeerInfo(address: "scripted"))
    }

    // MARK: The client

    func begin(_ handler: ConnectHandler = EchoMethods.handler) { receiver = handler.begin(self) }

    func send(_ bytes: [UInt8]) { bytes.withUnsafeBytes { receiver?.receive($0) } }

    func end(_ failure: HTTPBodyFailure? = nil) { receiver?.receiveEnd(failure) }

    func passDeadline() { receiver?.deadlinePassed() }

    /// The client ends the exchange.
    func leave(beforeEnd: Bool = false) {
        let (task, waiting) = locked.withLock { state in
            state.isLeft = true
            defer { state.waiting = [] }
            return (state.isFinished ? nil : state.task, state.waiting)
        }
        for continuation in waiting { continuation.resume() }
        if beforeEnd { receiver?.receiveEnd(.ended) }
        task?.cancel()
    }

    func setRoom(_ hasRoom: Bool) {
        let waiting = locked.withLock { state in
            state.hasRoom = hasRoom
            guard hasRoom else { return [CheckedContinuation<Void, Never>]() }
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// What needs memory ends the exchange from now on.
    func takeMemory() { locked.withLock { $0.hasMemory = false } }

    func setKeptMax(_ count: Int) { locked.withLock { $0.keptMax = count } }

    /// Waits until something holds; false after five seconds.
    func waits(until condition: (State) -> Bool) async throws -> Bool {
        for _ in 0..<500 {
            if condition(state) { return true }
            try await Task.sleep(for: .milliseconds(10))
        }
        return false
    }

    // MARK: What the call does

    override func didStart(_ task: Task<Void, Never>) { locked.withLock { $0.task = task } }
    override func handlerEnded() { locked.withLock { $0.handlersEnded += 1 } }
    override var hasEnded: Bool { locked.withLock { $0.isFinished || $0.isLeft } }
    override func callBegan(_ method: MethodDescriptor?) { locked.withLock { $0.began = method } }
    override func callEnded(_ code: Status.Code) { locked.withLock { $0.code = code } }

    override func respond(status: Int, fields: Metadata, body: UnsafeRawBufferPointer) {
        let body = Array(body)
        locked.withLock { state in
            guard !state.isFinished, !state.isLeft else { return }
            precondition(state.status == nil, "two heads")
            state.status = status
            state.fields = fields
            state.body = body
            state.isFinished = true
        }
    }

    override func sendHead(status: Int, fields: Metadata, contentLength: Int?) -> Bool {
        locked.withLock { state in
            guard !state.isFinished, !state.isLeft else { return false }
            precondition(state.status == nil, "two heads")
            state.status = status
            state.fields = fields
            return true
        }
    }

    override func send(_ bytes: MessageBuffer) async throws(RPCError) {
        let bytes = bytes.withUnsafeBytes { Array($0) }
        let isOpen = locked.withLock { state in
            guard !state.isFinished, !state.isLeft else { return false }
            precondition(state.status != nil, "no head")
            state.body += bytes
            return true
        }
        guard isOpen else { throw RPCError(.cancelled, "the exchange has ended") }
        await withCheckedContinuation { continuation in
            let goesOn = locked.withLock { state in
                if state.hasRoom || state.isLeft { return true }
                state.waiting.append(continuation)
                return false
            }
            if goesOn { continuation.resume() }
        }
    }

    override func finish(trailers: Metadata) { locked.withLock { $0.isFinished = true } }

    override func finish(with last: MessageBuffer, trailers: Metadata) {
        let bytes = last.withUnsafeBytes { Array($0) }
        locked.withLock { state in
            guard !state.isFinished, !state.isLeft else { return }
            state.body += bytes
            state.isFinished = true
        }
    }

    override func reset() { locked.withLock { $0.isLeft = true } }

    override func consume(byteCount: Int, keeps: Bool) -> Bool {
        locked.withLock { state in
            state.consumed += byteCount
            if keeps { state.kept += byteCount }
            return state.kept <= state.keptMax
        }
    }

    override func release(byteCount: Int) {
        locked.withLock { state in
            state.kept -= byteCount
            precondition(state.kept >= 0, "more is given back than was kept")
        }
    }

    override func setDeadline(_ deadline: Deadline) { if !state.hasMemory { reset() } }
    override func setBodyDeadline(_ deadline: Deadline?) {
        locked.withLock { $0.bodyDeadlines.append(deadline != nil) }
    }
}
