import API
import HTTPJSON
import HTTPTypes
import Logging

extension Page {
    /// A page about a problem: what its code means to the user, or else whether to try again or to go back to the app.
    static func response(telling problem: Problem, in text: PageText) -> Response {
        let sentence = PageText.Key(code: problem.code) ?? (problem.mayPass ? .tryAgain : .goBack)
        let title: PageText.Key = problem.status == .tooManyRequests ? .tooMany : .failed
        return problem.page(message(title, sentence, in: text, status: problem.pageStatus).response)
    }

    /// A page about a request of an app that can't be answered, and can't be sent back to the app either.
    static func failure(_ failure: IdentityV1.OAuthFailure, in text: PageText) -> Page {
        let (title, sentence): (PageText.Key, PageText.Key) =
            switch failure.reason {
            case "CLIENT_UNKNOWN": (.appUnknown, .appUnknownText)
            case "CLIENT_DISABLED": (.appOff, .appOffText)
            case "REQUEST_EXPIRED": (.expired, .expiredText)
            default: (.failed, .appRequestFaulty)
            }
        var page = message(title, sentence, in: text, status: .badRequest)
        // In the other cases the app's developers have nothing to mend.
        if sentence == .appUnknownText || sentence == .appRequestFaulty {
            let detail = HTMLText.escaped(failure.description_p)
            page.content += """

                <p class="detail">\(text.html(.forDevelopers)) <span lang="en" dir="ltr">\(detail)</span></p>
                """
        }
        return page
    }
}

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
