import CCurl
import COpenSSL

/// Sets the options of one libcurl handle, and records whether one could not be set.
final class EasyOptions {
    private let easy: UnsafeMutableRawPointer
    /// Whether all options were set.
    private(set) var areSet = true

    init(_ easy: UnsafeMutableRawPointer) { self.easy = easy }

    private func check(_ code: CURLcode) { if code != CURLE_OK { areSet = false } }

    func set(_ option: CURLoption, _ number: Int) { check(ccurl_set_long(easy, option, number)) }

    func set(_ option: CURLoption, _ text: String?) { check(ccurl_set_text(easy, option, text)) }

    func set(_ option: CURLoption, _ pointer: UnsafeMutableRawPointer) {
        check(ccurl_set_pointer(easy, option, pointer))
    }

    /// Sets a list of lines, which the caller frees after the handle; nil for none.
    func set(_ option: CURLoption, _ lines: [String]) -> UnsafeMutablePointer<curl_slist>? {
        var list: UnsafeMutablePointer<curl_slist>?
        for line in lines {
            guard let longer = curl_slist_append(list, line) else {
                areSet = false
                break
            }
            list = longer
        }
        if let list { set(option, UnsafeMutableRawPointer(list)) }
        return list
    }

    /// Sets the common options of a client's requests, and those of this request.
    func set(_ settings: ClientSettings, _ request: PreparedRequest) {
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        set(CURLOPT_FOLLOWLOCATION, 0)
        let version = settings.speaksHTTP2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1
        set(CURLOPT_HTTP_VERSION, Int(version))
        // The first requests to a server wait for a connection that they can share, instead of opening one each.
        if settings.speaksHTTP2, request.url.scheme == "https" { set(CURLOPT_PIPEWAIT, 1) }
        set(CURLOPT_USERAGENT, settings.userAgent)
        set(CURLOPT_CONNECTTIMEOUT_MS, max(1, Int(settings.connectTimeout / .milliseconds(1))))
        // Older connections are not used again: servers may close them at any moment.
        set(CURLOPT_MAXAGE_CONN, max(1, Int(settings.idleTime / .seconds(1))))
        setTLS()
        setProxy(request.proxy)
        set(CURLOPT_URL, request.target)
        setMethod(request)
        // Zero would mean no maximum; then only the received bytes are checked.
        if !request.dropsBody {
            check(ccurl_set_size(easy, CURLOPT_MAXFILESIZE_LARGE, Int64(max(0, request.bodyBytesMax))))
        }
    }

    private func setTLS() {
        set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        set(CURLOPT_PROXY_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        for option in [CURLOPT_SSL_VERIFYPEER, CURLOPT_PROXY_SSL_VERIFYPEER] { set(option, 1) }
        for option in [CURLOPT_SSL_VERIFYHOST, CURLOPT_PROXY_SSL_VERIFYHOST] { set(option, 2) }
        // The trusted certificates come from the context below: libcurl would read their file on the loop, for some 20 ms.
        for option in [CURLOPT_CAINFO, CURLOPT_CAPATH, CURLOPT_PROXY_CAINFO, CURLOPT_PROXY_CAPATH] {
            set(option, String?.none)
        }
        check(
            ccurl_set_tls_context(easy) { _, context, store in
                guard let context, let store else { return CURLE_SSL_CERTPROBLEM }
                SSL_CTX_set1_cert_store(OpaquePointer(context), OpaquePointer(store))
                return CURLE_OK
            }
        )
    }

    private func setProxy(_ proxy: Proxy?) {
        // Empty texts: otherwise libcurl would read the environment for each request.
        set(CURLOPT_NOPROXY, "")
        set(CURLOPT_PROXY, proxy?.place ?? "")
        guard let proxy else { return }
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        guard let user = proxy.user else { return }
        set(CURLOPT_PROXYUSERNAME, user)
        set(CURLOPT_PROXYPASSWORD, proxy.password ?? "")
    }

    private func setMethod(_ request: PreparedRequest) {
        switch request.method {
        case .get: set(CURLOPT_HTTPGET, 1)
        case .postForm(let fields): setBody(Array(FormEncoding.encode(fields).utf8))
        case .other(let method, let body, _):
            // A POST without a body sends Content-Length: 0, other methods don't.
            if let body { setBody(body) } else if method == "POST" { setBody([]) }
            set(CURLOPT_CUSTOMREQUEST, method)
        }
    }

    private func setBody(_ body: [UInt8]) {
        set(CURLOPT_POST, 1)
        check(ccurl_set_size(easy, CURLOPT_POSTFIELDSIZE_LARGE, Int64(body.count)))
        // Copied. An empty array has no address, and without one libcurl would ask for the body later.
        if body.isEmpty { return set(CURLOPT_COPYPOSTFIELDS, "") }
        body.withUnsafeBytes { bytes in
            check(ccurl_set_pointer(easy, CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: bytes.baseAddress)))
        }
    }

    typealias Receiver =
        @convention(c) (UnsafeMutablePointer<CChar>?, Int, Int, UnsafeMutableRawPointer?) -> Int

    /// Sets libcurl's callbacks.
    func setFunctions(
        head: Receiver,
        body: Receiver,
        beforeRequest: curl_prereq_callback,
        beforeResolving: curl_resolver_start_callback,
        openSocket: curl_opensocket_callback
    ) {
        check(ccurl_set_receiver(easy, CURLOPT_HEADERFUNCTION, head))
        check(ccurl_set_receiver(easy, CURLOPT_WRITEFUNCTION, body))
        check(ccurl_set_before_request(easy, beforeRequest))
        check(ccurl_set_before_resolving(easy, beforeResolving))
        check(ccurl_set_open_socket(easy, openSocket))
        check(ccurl_set_close_socket(easy) { LoopTransfers.closeSocket($0, $1) })
    }
}
