import OutgoingHTTP
import Synchronization

/// Other people's servers, as a test says what they answer.
final class TestHTTP: OutgoingClient {
    typealias Script = @Sendable (OutgoingRequest) async throws(OutgoingHTTPError) -> OutgoingResponse

    private struct State {
        var script: Script = { _ throws(OutgoingHTTPError) in
            throw OutgoingHTTPError(.connection("refused"), mayHaveBeenSent: false)
        }
        var requests: [OutgoingRequest] = []
    }

    private let state = Mutex(State())

    /// The requests that came, in order.
    var requests: [OutgoingRequest] { state.withLock { $0.requests } }

    /// Answers by this from now on.
    func answer(_ script: @escaping Script) {
        state.withLock { $0.script = script }
    }

    /// Answers this from now on.
    func answer(_ status: Int, _ body: String) {
        answer { _ throws(OutgoingHTTPError) in OutgoingResponse(status: status, body: Array(body.utf8)) }
    }

    func send(_ request: OutgoingRequest) async throws(OutgoingHTTPError) -> OutgoingResponse {
        let script = state.withLock { state in
            state.requests.append(request)
            return state.script
        }
        return try await script(request)
    }
}

extension OutgoingRequest {
    /// A value of the form or of the query.
    func field(_ name: String) -> String? {
        switch method {
        case .get(let query): query.first { $0.name == name }?.value
        case .postForm(let form): form.first { $0.name == name }?.value
        case .other: nil
        }
    }
}

/// Holds up who comes until a test opens it.
final class TestGate: Sendable {
    private let isOpen = Atomic<Bool>(false)

    func open() { isOpen.store(true, ordering: .releasing) }

    func wait() async {
        while !isOpen.load(ordering: .acquiring), !Task.isCancelled { try? await Task.sleep(for: .milliseconds(2)) }
    }
}
