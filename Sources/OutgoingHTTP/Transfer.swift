import CCurl
import Glibc
import RPCTransport

/// One request on its way: first to its host's addresses, then, with a handle of libcurl's, to its answer. Whoever ends it
/// resumes its caller; nobody does so twice.
///
/// Loop thread, but for `init`.
final class Transfer: @unchecked Sendable {
    // Sound because what changes is touched on the loop's thread only, which its owner checks.

    let request: PreparedRequest
    let deadline: ContinuousClock.Instant
    /// Who waits for the answer; nil before the beginning, and after the end.
    var caller: CheckedContinuation<Result<OutgoingResponse, OutgoingHTTPError>, Never>?
    /// Ends it when its time is up.
    var timer: LoopTimer?
    /// Whether it was cancelled before it began.
    var isCancelled = false
    private(set) var easy: UnsafeMutableRawPointer?
    private var lists: [UnsafeMutablePointer<curl_slist>] = []
    private let errorText: UnsafeMutablePointer<CChar>
    /// How often it was about to be written to a connection.
    private var attemptCount = 0
    private var head = ResponseHead()
    private var body: [UInt8] = []
    private var droppedCount = 0
    /// How many sockets were opened for it, and whether one was refused for its address.
    private var socketCount = 0
    private var hasRefusedAddress = false
    /// Why we ended it while libcurl worked for it.
    private var refusal: OutgoingHTTPError.Cause?

    init(_ request: PreparedRequest) {
        self.request = request
        deadline = .now + request.timeout
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        release()
        errorText.deallocate()
    }

    /// Whether the server may have seen the request.
    var mayHaveBeenSent: Bool { attemptCount > 0 }

    /// Makes libcurl's handle. False if there is no memory.
    ///
    /// - Parameters:
    ///   - settings: the client's.
    ///   - resolution: lines of CURLOPT_RESOLVE for where it connects to.
    ///   - sockets: what closes its connections, whose life is longer.
    func prepare(_ settings: ClientSettings, resolution: [String], sockets: UnsafeMutableRawPointer) -> Bool {
        guard let easy = curl_easy_init() else { return false }
        self.easy = easy
        let options = EasyOptions(easy)
        let this = Unmanaged.passUnretained(self).toOpaque()
        options.set(settings, request)
        options.set(CURLOPT_ERRORBUFFER, UnsafeMutableRawPointer(errorText))
        options.set(CURLOPT_PRIVATE, this)
        if let list = options.set(CURLOPT_HTTPHEADER, request.headerLines) { lists.append(list) }
        if let list = options.set(CURLOPT_RESOLVE, resolution) { lists.append(list) }
        options.set(CURLOPT_WRITEDATA, this)
        options.set(CURLOPT_HEADERDATA, this)
        options.set(CURLOPT_PREREQDATA, this)
        options.set(CURLOPT_RESOLVER_START_DATA, this)
        options.set(CURLOPT_SSL_CTX_DATA, UnsafeMutableRawPointer(settings.trust.store))
        options.set(CURLOPT_OPENSOCKETDATA, this)
        options.set(CURLOPT_CLOSESOCKETDATA, sockets)
        options.setFunctions(
            head: { Transfer.from($3)?.receiveHead($0, $1 &* $2) ?? 0 },
            body: { Transfer.from($3)?.receiveBody($0, $1 &* $2) ?? 0 },
            beforeRequest: { context, address, _, _, _ in
                Transfer.from(context)?.beforeRequest(to: address) ?? CURL_PREREQFUNC_ABORT
            },
            beforeResolving: { _, _, context in Transfer.from(context)?.beforeResolving() ?? 1 },
            openSocket: { context, _, address in Transfer.from(context)?.openSocket(to: address) ?? CURL_SOCKET_BAD }
        )
        return options.areSet
    }

    /// Frees libcurl's handle, which must belong to no multi handle any more.
    func release() {
        if let easy { curl_easy_cleanup(easy) }
        easy = nil
        for list in lists { curl_slist_free_all(list) }
        lists = []
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> Transfer? {
        context.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Called when there is a connection, TLS included, and the request is about to be written: until then no server can have
    /// done what it asks.
    ///
    /// libcurl writes it a second time where a kept connection ended without an answer. The first may have been done, so that a
    /// second is only for what may be done twice.
    private func beforeRequest(to address: UnsafePointer<CChar>?) -> Int32 {
        // A connection that is there may have been made for a request that may go anywhere.
        if request.staysPublic, address.flatMap({ PublicAddress.isPublic(String(cString: $0)) }) != true {
            refusal = .addressNotPublic
            return CURL_PREREQFUNC_ABORT
        }
        attemptCount += 1
        guard attemptCount > 1, !request.isIdempotent else { return CURL_PREREQFUNC_OK }
        refusal = .connection("the connection ended before an answer")
        return CURL_PREREQFUNC_ABORT
    }

    /// Called where libcurl doesn't know an address by CURLOPT_RESOLVE: for addresses in digits, which it reads itself. For a
    /// name it would start a thread, which we don't allow.
    private func beforeResolving() -> Int32 { request.nextHop.host.address == nil ? 1 : 0 }

    /// Called for each address that libcurl is about to connect to, which is the one that it does connect to: whatever name stands in
    /// the URL, and whatever that name meant a moment ago.
    private func openSocket(to address: UnsafeMutablePointer<curl_sockaddr>?) -> curl_socket_t {
        guard let address else { return CURL_SOCKET_BAD }
        if request.staysPublic {
            let bytes = MemoryLayout<curl_sockaddr>.offset(of: \.addr).flatMap { offset in
                // It may be longer than its type says, as all socket addresses are.
                PublicAddress.bytes(of: UnsafeRawPointer(address) + offset, length: Int(address.pointee.addrlen))
            }
            guard let bytes, PublicAddress.contains(bytes) else {
                hasRefusedAddress = true
                return CURL_SOCKET_BAD
            }
        }
        let kind = address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue)
        let socket = Glibc.socket(address.pointee.family, kind, address.pointee.protocol)
        if socket >= 0 { socketCount += 1 }
        return socket
    }

    private func receiveHead(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        guard head.receive(UnsafeRawBufferPointer(start: bytes, count: count)) else {
            refusal = .connection("the answer's header fields are too long")
            return 0
        }
        return count
    }

    private func receiveBody(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        guard count <= request.bodyBytesMax - body.count - droppedCount else {
            if !request.dropsBody { refusal = .bodyTooLarge }
            return 0
        }
        if request.dropsBody {
            droppedCount += count
            return count
        }
        body += UnsafeRawBufferPointer(start: bytes, count: count)
        return count
    }

    /// What came of it, as libcurl has ended it.
    func result(_ code: CURLcode) -> Result<OutgoingResponse, OutgoingHTTPError> {
        var status = 0
        // libcurl takes the end of a connection within a head for the end of the head.
        guard code == CURLE_OK || request.dropsBody && refusal == nil, head.isComplete, let easy,
            ccurl_get_long(easy, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK, status > 0
        else { return .failure(OutgoingHTTPError(cause(code), mayHaveBeenSent: mayHaveBeenSent)) }
        return .success(OutgoingResponse(status: status, headers: head.fields, body: body))
    }

    /// What came of it when its time is up.
    var lateResult: Result<OutgoingResponse, OutgoingHTTPError> { result(CURLE_OPERATION_TIMEDOUT) }

    private func cause(_ code: CURLcode) -> OutgoingHTTPError.Cause {
        if let refusal { return refusal }
        if hasRefusedAddress, socketCount == 0 { return .addressNotPublic }
        return switch code {
        case CURLE_OPERATION_TIMEDOUT: .timeout
        case CURLE_FILESIZE_EXCEEDED: .bodyTooLarge
        case CURLE_URL_MALFORMAT: .url
        case CURLE_OK: .connection("the connection ended within the answer's head")
        default: .connection(words(code))
        }
    }

    /// The most characters of libcurl's words.
    private static let wordsMax = 200

    /// What libcurl says of the error: of the connection and the answer's form, never of what was sent.
    private func words(_ code: CURLcode) -> String {
        let special = String(cString: errorText)
        let text = special.isEmpty ? String(cString: curl_easy_strerror(code)) : special
        // An answer may have its part in it.
        return String(decoding: text.utf8.prefix(Self.wordsMax).map { 0x20...0x7e ~= $0 ? $0 : 0x3f }, as: UTF8.self)
    }
}
