import HTTPJSON
import HTTPTypes
import JOSE

/// What a provider's key endpoint does instead of answering well.
enum Misbehaviour: Sendable, Hashable {
    /// Nothing: it answers.
    case off
    /// It answers late, by this many milliseconds.
    case slow(milliseconds: Int64)
    /// It answers with this status and no keys.
    case error(status: Int64)

    /// The longest delay, in milliseconds.
    static let delayMillisecondsMax: Int64 = 60_000

    /// Reads `keys` (`off`, `slow`, `error`), `delay_ms` and `status` of a request.
    init(_ input: inout JSONInput) {
        let delay = input.optionalInteger("delay_ms", in: 0...Self.delayMillisecondsMax) ?? 5000
        let status = input.optionalInteger("status", in: 500...599) ?? 503
        switch input.string("keys") {
        case "off": self = .off
        case "slow": self = .slow(milliseconds: delay)
        case "error": self = .error(status: status)
        case "": self = .off
        default:
            self = .off
            input.addFault("keys", code: "INVALID", detail: "One of off, slow, error.")
        }
    }

    /// As the control endpoint answers it.
    var json: JSONObject {
        switch self {
        case .off: ["keys": "off"]
        case .slow(let milliseconds): ["keys": "slow", "delay_ms": .integer(milliseconds)]
        case .error(let status): ["keys": "error", "status": .integer(status)]
        }
    }
}
