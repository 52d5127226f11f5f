import API
import RPC

extension AppMethods {
    /// How long identity may take to tell the keys; short, because a stale set is better than a late one.
    static let keySetWait = Duration.seconds(2)

    /// The public keys of our tokens (RFC 7517 section 5).
    func getKeySet(_ request: AppV1.GetKeySetRequest, _ caller: Caller) async throws -> AppV1.GetKeySetResponse {
        let answer = try await keySetAnswer(caller)
        var response = AppV1.GetKeySetResponse()
        response.jwksJson = answer.json
        response.maxAgeSeconds = Int32(clamping: answer.maxAgeSeconds)
        return response
    }

    /// The keys, the issuer, and for how long they may be kept.
    func keySetAnswer(_ caller: Caller) async throws -> KeySetCache.Answer {
        try await keySet.answer(timeout: min(Self.keySetWait, caller.deadline.remaining))
    }
}
