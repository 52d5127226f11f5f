import HTTPJSON
import HTTPTypes
import Logging

/// Problems of requests that browsers make for people.
extension Problem {
    /// Whether the same request may succeed later.
    var mayPass: Bool { status.code >= 500 || status == .tooManyRequests }

    /// The status of a page about it. A page asks for no credentials, as a 401 would have to.
    var pageStatus: HTTPResponse.Status { status == .unauthorized ? .badRequest : status }

    /// A page about it, with the header fields that go with its status.
    func page(_ page: Response) -> Response {
        var page = page
        page.headers[.retryAfter] = headers[.retryAfter]
        page.headers[.allow] = headers[.allow]
        page.closesConnection = closesConnection
        return page
    }

    /// Logs a failure of which the browser gets a page, without anything that the browser sent.
    func note(_ message: Logger.Message, _ logger: Logger) {
        var facts: Logger.Metadata = ["code": "\(code)"]
        if let cause { facts["cause"] = "\(cause)" }
        logger.log(level: status.code >= 500 ? .error : .notice, message, metadata: facts)
    }
}
