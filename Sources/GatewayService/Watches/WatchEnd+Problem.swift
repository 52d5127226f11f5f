import HTTPJSON
import HTTPTypes

extension WatchEnd {
    /// The problem for the app.
    var problem: Problem {
        switch self {
        case .expired: Self.over("ACCESS_TOKEN_EXPIRED", "The access token has expired.")
        case .revoked: Self.over("SESSION_REVOKED", "The session has been ended. Sign in again.")
        case .comeAgain:
            Problem(
                .serviceUnavailable,
                code: "COME_AGAIN",
                detail: "This stream ends here. Come again with the last position."
            ).retryingAfter(.seconds(1))
        case .slow:
            Problem(
                .tooManyRequests,
                code: "TOO_SLOW",
                detail: "What changed was not taken in time. Come again with the last position."
            ).retryingAfter(.seconds(1))
        }
    }

    private static func over(_ code: String, _ detail: String) -> Problem {
        Problem(
            .unauthorized,
            code: code,
            detail: detail,
            headers: [.wwwAuthenticate: Authentication.invalidTokenChallenge]
        )
    }
}
