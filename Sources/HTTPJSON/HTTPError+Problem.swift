import HTTP
import HTTPTypes

extension HTTPError {
    /// The answer to it, after which the connection ends: where the next request begins is anybody's guess.
    public var problem: Problem {
        switch self {
        case .malformed: refused(.badRequest, "This is no HTTP/1.1 request.")
        case .hostCount: refused(.badRequest, "An HTTP/1.1 request has one Host field.")
        case .hostMalformed: refused(.badRequest, "The Host field is no host with an optional port.")
        case .contentLengthInvalid: refused(.badRequest, "The Content-Length field is not one number.")
        case .transferEncodingInvalid:
            refused(.badRequest, "The Transfer-Encoding field leaves open where the body ends.")
        case .transferEncodingUnknown:
            refused(.notImplemented, "This transfer coding is not known here; send chunked alone.")
        case .headTooLarge:
            refused(.requestHeaderFieldsTooLarge, "The header fields are too many or too large.")
        case .targetTooLong: refused(.uriTooLong, "The request's target is too long.")
        case .version: refused(.httpVersionNotSupported, "This version of HTTP is not spoken here.")
        case .headTimeout: refused(.requestTimeout, "The head of the request did not come in time.")
        case .methodUnknown: refused(.notImplemented, Problem.methodUnknown.detail)
        }
    }

    private func refused(_ status: HTTPResponse.Status, _ detail: String) -> Problem {
        Problem(status, code: rawValue, detail: detail, closesConnection: true)
    }
}
