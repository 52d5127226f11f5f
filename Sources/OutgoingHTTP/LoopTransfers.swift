import CCurl
import Glibc
import RPCTransport

/// The requests of one loop: a libcurl multi handle, whose file descriptors and timeouts the loop watches, so that libcurl needs
/// no thread. The handle and its connections exist while there are requests, and for some time after.
///
/// libcurl's callbacks don't call functions of the multi handle. Loop thread, but for `init`.
final class LoopTransfers: @unchecked Sendable {
    // Safe because the variables are used only on the loop's thread, which each entry point checks.

    let loop: EventLoop
    private let settings: ClientSettings
    private let addresses: LoopAddresses
    private var multi: UnsafeMutableRawPointer?
    private var watches: [Int32: FileWatch] = [:]
    /// When libcurl must be called.
    private var timer: LoopTimer?
    /// Closes idle connections.
    private var idleTimer: LoopTimer?
    /// Requests that wait for addresses.
    private var waiting: [ObjectIdentifier: Transfer] = [:]
    /// Requests in libcurl, by their handles.
    private var running: [UnsafeMutableRawPointer: Transfer] = [:]
    /// The names with ports whose addresses the multi handle has.
    private var resolved: Set<String> = []
    private var isClosed = false

    init(loop: EventLoop, settings: ClientSettings) {
        self.loop = loop
        self.settings = settings
        addresses = LoopAddresses(loop: loop, resolver: settings.resolver)
        addresses.onAnswer = { [weak self] host, addresses in self?.answered(host, addresses) }
    }

    // MARK: Begin and end

    /// Begins a request; its caller is always resumed, exactly once.
    func begin(
        _ transfer: Transfer,
        _ caller: CheckedContinuation<Result<OutgoingResponse, OutgoingHTTPError>, Never>
    ) {
        loop.preconditionIsCurrent()
        transfer.caller = caller
        if transfer.isCancelled { return end(transfer, .cancelled) }
        guard !isClosed, !loop.isEnding else { return end(transfer, Self.closed) }
        let left = transfer.deadline - .now
        guard left > .zero else { return end(transfer, .timeout) }
        idleTimer?.cancel()
        let hop = transfer.request.nextHop
        guard hop.host.address == nil else { return start(transfer, left, []) }
        if let addresses = addresses.known(hop.host.text) { return start(transfer, left, resolution(hop, addresses)) }
        guard addresses.ask(hop.host.text) else { return end(transfer, .connection("too many look-ups of names")) }
        waiting[ObjectIdentifier(transfer)] = transfer
        setTimer(of: transfer, min(left, settings.connectTimeout))
    }

    /// Continues the requests that waited for a host's addresses and haven't timed out.
    private func answered(_ host: String, _ addresses: [String]) {
        for transfer in waiting.values where transfer.request.nextHop.host.text == host {
            waiting[ObjectIdentifier(transfer)] = nil
            if addresses.isEmpty {
                end(transfer, .connection("the name \(host) has no address"))
            } else {
                start(transfer, transfer.deadline - .now, resolution(transfer.request.nextHop, addresses))
            }
        }
    }

    /// Ends a request whose task was cancelled.
    func cancel(_ transfer: Transfer) {
        loop.preconditionIsCurrent()
        transfer.isCancelled = true
        if transfer.caller != nil { end(transfer, .cancelled) }
    }

    /// Ends all requests and connections; afterwards no more begin.
    func close() {
        loop.preconditionIsCurrent()
        isClosed = true
        for transfer in Array(waiting.values) + Array(running.values) { end(transfer, Self.closed) }
        closeMulti()
    }

    private static let closed = OutgoingHTTPError.Cause.connection("the client is closed")

    private func start(_ transfer: Transfer, _ left: Duration, _ resolution: [String]) {
        let this = Unmanaged.passUnretained(self).toOpaque()
        guard let multi = multi ?? makeMulti(), transfer.prepare(settings, resolution: resolution, sockets: this),
            let easy = transfer.easy
        else { return end(transfer, .connection("out of memory")) }
        setTimer(of: transfer, left)
        running[easy] = transfer
        check(curl_multi_add_handle(multi, easy))
    }

    private func setTimer(of transfer: Transfer, _ after: Duration) {
        transfer.timer?.cancel()
        transfer.timer = loop.schedule(after: max(.zero, after)) { [weak self, weak transfer] in
            guard let self, let transfer else { return }
            end(transfer, transfer.lateResult)
        }
    }

    private func end(_ transfer: Transfer, _ cause: OutgoingHTTPError.Cause) {
        end(transfer, .failure(OutgoingHTTPError(cause, mayHaveBeenSent: transfer.mayHaveBeenSent)))
    }

    private func end(_ transfer: Transfer, _ result: Result<OutgoingResponse, OutgoingHTTPError>) {
        transfer.timer?.cancel()
        transfer.timer = nil
        waiting[ObjectIdentifier(transfer)] = nil
        if let easy = transfer.easy {
            running[easy] = nil
            // Fails for a handle that was not added, which needs no removal.
            if let multi { curl_multi_remove_handle(multi, easy) }
            transfer.release()
        }
        // Addresses that can't be reached may be out of date.
        if case .failure = result, !transfer.mayHaveBeenSent { addresses.forget(transfer.request.nextHop.host.text) }
        let caller = transfer.caller
        transfer.caller = nil
        caller?.resume(returning: result)
        if waiting.isEmpty, running.isEmpty, multi != nil, !isClosed { setIdleTimer() }
    }

    private func setIdleTimer() {
        idleTimer?.cancel()
        idleTimer = loop.schedule(after: settings.idleTime) { [weak self] in
            guard let self, waiting.isEmpty, running.isEmpty else { return }
            closeMulti()
        }
    }

    // MARK: The multi handle

    private func makeMulti() -> UnsafeMutableRawPointer? {
        guard let multi = curl_multi_init() else { return nil }
        let this = Unmanaged.passUnretained(self).toOpaque()
        let codes = [
            ccurl_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, settings.connectionsPerHostMax),
            ccurl_multi_set_long(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, settings.connectionsMax),
            ccurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, settings.connectionsMax),
            ccurl_multi_set_pointer(multi, CURLMOPT_SOCKETDATA, this),
            ccurl_multi_set_watch(multi) { _, socket, what, context, _ in
                LoopTransfers.from(context)?.watch(socket, what) ?? -1
            },
            ccurl_multi_set_pointer(multi, CURLMOPT_TIMERDATA, this),
            ccurl_multi_set_timer(multi) { _, milliseconds, context in
                LoopTransfers.from(context)?.setTimer(milliseconds) ?? -1
            },
        ]
        guard codes.allSatisfy({ $0 == CURLM_OK }) else {
            curl_multi_cleanup(multi)
            return nil
        }
        self.multi = multi
        // The loop keeps this object from now on: libcurl holds pointers to it.
        loop.closeAtEnd(self) { self.close() }
        return multi
    }

    /// Closes all connections. No request may be in flight.
    private func closeMulti() {
        idleTimer?.cancel()
        idleTimer = nil
        guard let multi else { return }
        curl_multi_cleanup(multi)
        self.multi = nil
        timer?.cancel()
        timer = nil
        for watch in watches.values { watch.cancel() }
        watches = [:]
        resolved = []
        loop.closed(self)
    }

    /// Passes an event of a file descriptor, or a timeout, to libcurl, and completes the requests that it has ended.
    private func act(_ socket: Int32, _ events: Int32) {
        guard let multi else { return }
        var runningCount: Int32 = 0
        check(curl_multi_socket_action(multi, socket, events, &runningCount))
    }

    /// Completes the requests that libcurl has ended. If its handle is unusable, all requests end.
    private func check(_ code: CURLMcode) {
        guard code == CURLM_OK else {
            let words = String(cString: curl_multi_strerror(code))
            for transfer in running.values { end(transfer, .connection(words)) }
            return closeMulti()
        }
        var leftCount: Int32 = 0
        while let multi, let message = curl_multi_info_read(multi, &leftCount) {
            let (kind, easy, result) = (message.pointee.msg, message.pointee.easy_handle, message.pointee.data.result)
            guard kind == CURLMSG_DONE, let easy, let transfer = running[easy] else { continue }
            end(transfer, transfer.result(result))
        }
    }

    // MARK: libcurl's callbacks

    private static func from(_ context: UnsafeMutableRawPointer?) -> LoopTransfers? {
        context.map { Unmanaged<LoopTransfers>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Watches a file descriptor, changes the watched events, or ends the watch. -1 ends the whole handle.
    private func watch(_ socket: Int32, _ what: Int32) -> Int32 {
        // CURL_POLL_IN and _OUT, and CURL_CSELECT_IN, _OUT and _ERR below, are the bits of FileInterest.
        guard what != CURL_POLL_REMOVE else {
            watches.removeValue(forKey: socket)?.cancel()
            return 0
        }
        let interest = FileInterest(rawValue: what & 3)
        if let watch = watches[socket] {
            watch.setInterest(interest)
            return 0
        }
        do {
            watches[socket] = try loop.watch(fileDescriptor: socket, interest: interest) { [unowned self] ready in
                act(socket, ready.rawValue)
            }
            return 0
        } catch {
            return -1
        }
    }

    private func setTimer(_ milliseconds: Int) -> Int32 {
        timer?.cancel()
        timer = nil
        guard milliseconds >= 0 else { return 0 }
        timer = loop.schedule(after: .milliseconds(milliseconds)) { [unowned self] in
            timer = nil
            act(CURL_SOCKET_TIMEOUT, 0)
        }
        return 0
    }

    /// Closes a connection's file descriptor, and ends its watch first, since the number may be reused immediately.
    static func closeSocket(_ context: UnsafeMutableRawPointer?, _ socket: Int32) -> Int32 {
        from(context)?.watches.removeValue(forKey: socket)?.cancel()
        return Glibc.close(socket)
    }

    // MARK: Names

    /// The option with a name's addresses, so that libcurl never resolves it: it would use a thread, and wait for it.
    private func resolution(_ hop: PreparedRequest.Hop, _ addresses: [String]) -> [String] {
        let place = "\(hop.host.text):\(hop.port)"
        var lines: [String] = []
        if !resolved.contains(place), resolved.count >= LoopAddresses.hostsMax, let other = resolved.popFirst() {
            lines.append("-\(other)")
        }
        resolved.insert(place)
        let list = addresses.map { $0.contains(":") ? "[\($0)]" : $0 }.joined(separator: ",")
        return lines + ["\(place):\(list)"]
    }
}
