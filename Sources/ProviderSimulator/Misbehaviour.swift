import HTTPJSON
import HTTPTypes
import JOSE

/// The misbehaviour of an endpoint, instead of a correct response.
struct Misbehaviour: Sendable, Hashable {
    /// The kind of misbehaviour.
    enum Mode: Sendable, Hashable {
        /// None: it responds normally.
        case off
        /// It responds late, by this many milliseconds.
        case slow(milliseconds: Int64)
        /// It responds with this status, and with this word as `error` if one is given.
        case error(status: Int64, word: String?)
        /// It responds 200 with a text that doesn't match its media type.
        case garbage
        /// It closes the connection without a response.
        case drop
        /// It responds 302 with another location.
        case redirect(location: String)
    }

    /// The longest delay, in milliseconds.
    static let delayMillisecondsMax: Int64 = 60_000
    /// The maximum of calls for a limited misbehaviour.
    static let timesMax: Int64 = 1_000_000
    /// The longest `error` word or location, in bytes.
    static let textMax = 2048

    static let off = Misbehaviour(mode: .off)

    var mode: Mode
    /// Whether the endpoint first performs the request, so that a code is spent and the response lost.
    var happensAfterWork = false
    /// The number of remaining calls; nil to last until it is switched off.
    var timesLeft: Int64?

    init(mode: Mode) { self.mode = mode }

    /// Reads `mode` and its parameters from a request.
    init(_ input: inout JSONInput) {
        let delay = input.optionalInteger("delay_ms", in: 0...Self.delayMillisecondsMax) ?? 5000
        let status = input.optionalInteger("status", in: 400...599) ?? 503
        let word = input.optionalString("error")
        let location = input.optionalString("location")
        let afterWork = input.optionalBool("after_work")
        timesLeft = input.optionalInteger("times", in: 1...Self.timesMax)
        mode = .off
        switch input.string("mode") {
        case "off", "": timesLeft = nil
        case "slow": mode = .slow(milliseconds: delay)
        case "error": mode = .error(status: status, word: word)
        case "garbage": mode = .garbage
        case "drop": mode = .drop
        case "redirect":
            mode = .redirect(location: location ?? "")
            if location?.isEmpty ?? true { input.addError("location", code: "REQUIRED", detail: "Where to?") }
        default:
            input.addError("mode", code: "INVALID", detail: "One of off, slow, error, garbage, drop, redirect.")
        }
        happensAfterWork = afterWork ?? (mode == .drop)
        // A line end would split a header field in two.
        for (name, text) in [("error", word), ("location", location)] {
            guard let text, text.utf8.count > Self.textMax || !text.utf8.allSatisfy({ 0x21...0x7e ~= $0 }) else {
                continue
            }
            input.addError(name, code: "INVALID", detail: "At most \(Self.textMax) ASCII characters without spaces.")
        }
    }

    /// Reads the old format, for the key endpoints only: `keys` (`off`, `slow`, `error`), `delay_ms` and `status`.
    init(ofKeys input: inout JSONInput) {
        let delay = input.optionalInteger("delay_ms", in: 0...Self.delayMillisecondsMax) ?? 5000
        let status = input.optionalInteger("status", in: 500...599) ?? 503
        switch input.string("keys") {
        case "slow": mode = .slow(milliseconds: delay)
        case "error": mode = .error(status: status, word: nil)
        case "off", "": mode = .off
        default:
            mode = .off
            input.addError("keys", code: "INVALID", detail: "One of off, slow, error.")
        }
    }

    /// The response of the control endpoint, with the mode's word under `name`.
    func json(_ name: String) -> JSONObject {
        var body = JSONObject()
        switch mode {
        case .off: body[name] = "off"
        case .slow(let milliseconds):
            body[name] = "slow"
            body["delay_ms"] = .integer(milliseconds)
        case .error(let status, let word):
            body[name] = "error"
            body["status"] = .integer(status)
            if let word { body["error"] = .string(word) }
        case .garbage: body[name] = "garbage"
        case .drop: body[name] = "drop"
        case .redirect(let location):
            body[name] = "redirect"
            body["location"] = .string(location)
        }
        return body
    }

    /// Responds to a call, with the misbehaviour if there is one.
    ///
    /// - Parameter work: the endpoint's normal work.
    func answer(_ context: RouteContext, _ work: () async throws -> Response) async throws -> Response {
        if mode == .off { return try await work() }
        var answer: Result<Response, any Error>?
        if happensAfterWork {
            do { answer = .success(try await work()) } catch { answer = .failure(error) }
        }
        switch mode {
        case .off:
            break
        case .slow(let milliseconds):
            try await Task.sleep(for: .milliseconds(milliseconds))
        case .error(let status, let word):
            guard let word else {
                throw Problem(
                    .init(code: Int(status)),
                    code: "MISBEHAVING",
                    detail: "The simulator is set to fail here."
                )
            }
            return .json(["error": .string(word)], status: .init(code: Int(status)))
        case .garbage:
            return .json(bytes: "{\"keys\": <html>".utf8)
        case .drop:
            context.dropConnection()
            throw Problem(.internalServerError, code: "MISBEHAVING", detail: "Nobody reads this.")
        case .redirect(let location):
            return Response(status: .found, headers: [.location: location])
        }
        if let answer { return try answer.get() }
        return try await work()
    }
}
