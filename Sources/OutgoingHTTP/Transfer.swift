import CCurl
import Glibc
import RPCTransport

/// One request in flight. It first waits for its host's addresses, then, with a libcurl handle, for the response. Its end resumes
/// the caller, exactly once.
///
/// Loop thread, but for `init`.
final class Transfer: @unchecked Sendable {
    // Safe because the variables are used only on the loop's thread, which its owner checks.

    let request: PreparedRequest
    let deadline: ContinuousClock.Instant
    /// The caller that waits for the response; nil before the beginning, and after the end.
    var caller: CheckedContinuation<Result<OutgoingResponse, OutgoingHTTPError>, Never>?
    /// The timer of its timeout.
    var timer: LoopTimer?
    /// Whether it was cancelled before it began.
    var isCancelled = false
    private(set) var easy: UnsafeMutableRawPointer?
    private var lists: [UnsafeMutablePointer<curl_slist>] = []
    private let errorText: UnsafeMutablePointer<CChar>
    /// How often libcurl was about to write it to a connection.
    private var attemptCount = 0
    private var head = ResponseHead()
    private var body: [UInt8] = []
    private var droppedCount = 0
    /// The number of sockets opened for it, and whether one was refused because of its address.
    private var socketCount = 0
    private var hasRefusedAddress = false
    /// Why we ended it while it was in libcurl.
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

    /// Whether the server may have received the request.
    var mayHaveBeenSent: Bool { attemptCount > 0 }

    /// Makes libcurl's handle. False if there is no memory.
    ///
    /// - Parameters:
    ///   - settings: the client's settings.
    ///   - resolution: lines of CURLOPT_RESOLVE for the target of the connection.
    ///   - sockets: closes its connections, which outlive the request.
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

    /// Frees libcurl's handle, which must have been removed from its multi handle.
    func release() {
        if let easy { curl_easy_cleanup(easy) }
        easy = nil
        for list in lists { curl_slist_free_all(list) }
        lists = []
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> Transfer? {
        context.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Called when a connection is ready, TLS included, and the request is about to be written: until then no server can have
    /// processed it.
    ///
    /// libcurl writes it again if a kept connection ended without a response. The server may have processed the first, so only an
    /// idempotent request may be written again.
    private func beforeRequest(to address: UnsafePointer<CChar>?) -> Int32 {
        // An existing connection may have been made for a request that may use all addresses.
        if request.staysPublic, address.flatMap({ PublicAddress.isPublic(String(cString: $0)) }) != true {
            refusal = .addressNotPublic
            return CURL_PREREQFUNC_ABORT
        }
        attemptCount += 1
        guard attemptCount > 1, !request.isIdempotent else { return CURL_PREREQFUNC_OK }
        refusal = .connection("the connection ended before a response")
        return CURL_PREREQFUNC_ABORT
    }

    /// Called if CURLOPT_RESOLVE has no address: allowed for numeric addresses, which libcurl parses itself. For a name it
    /// would start a thread, which we don't allow.
    private func beforeResolving() -> Int32 { request.nextHop.host.address == nil ? 1 : 0 }

    /// Called with each address that libcurl is about to connect to. It is the address that is really used, whatever the name in the
    /// URL is, and whatever it resolved to before.
    private func openSocket(to address: UnsafeMutablePointer<curl_sockaddr>?) -> curl_socket_t {
        guard let address else { return CURL_SOCKET_BAD }
        if request.staysPublic {
            let bytes = MemoryLayout<curl_sockaddr>.offset(of: \.addr).flatMap { offset in
                // The address may be longer than its type, like all socket addresses.
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
            refusal = .connection("the response's header fields are too long")
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

    /// The result, when libcurl has ended it.
    func result(_ code: CURLcode) -> Result<OutgoingResponse, OutgoingHTTPError> {
        var status = 0
        // libcurl takes the end of a connection within a head for the end of the head.
        guard code == CURLE_OK || request.dropsBody && refusal == nil, head.isComplete, let easy,
            ccurl_get_long(easy, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK, status > 0
        else { return .failure(OutgoingHTTPError(cause(code), mayHaveBeenSent: mayHaveBeenSent)) }
        return .success(OutgoingResponse(status: status, headers: head.fields, body: body))
    }

    /// The result after a timeout.
    var lateResult: Result<OutgoingResponse, OutgoingHTTPError> { result(CURLE_OPERATION_TIMEDOUT) }

    private func cause(_ code: CURLcode) -> OutgoingHTTPError.Cause {
        if let refusal { return refusal }
        if hasRefusedAddress, socketCount == 0 { return .addressNotPublic }
        return switch code {
        case CURLE_OPERATION_TIMEDOUT: .timeout
        case CURLE_FILESIZE_EXCEEDED: .bodyTooLarge
        case CURLE_URL_MALFORMAT: .url
        case CURLE_OK: .connection("the connection ended within the response's head")
        default: .connection(words(code))
        }
    }

    /// The maximum length of libcurl's message.
    private static let wordsMax = 200

    /// libcurl's error message: about the connection and the format of the response, never about sent data.
    private func words(_ code: CURLcode) -> String {
        let special = String(cString: errorText)
        let text = special.isEmpty ? String(cString: curl_easy_strerror(code)) : special
        // The message may quote the response.
        return String(decoding: text.utf8.prefix(Self.wordsMax).map { 0x20...0x7e ~= $0 ? $0 : 0x3f }, as: UTF8.self)
    }
}
