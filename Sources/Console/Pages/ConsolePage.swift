import API
import HTTPJSON
import HTTPTypes
import IdentityDomain
import RPC
import WebPages

/// A page of the console, with the links to the others.
struct ConsolePage: Sendable {
    /// A page that every page links to.
    enum Tab: CaseIterable {
        case accounts
        case disputes
        case work
        case charts

        var path: String {
            switch self {
            case .accounts: ConsolePath.accounts.text
            case .disputes: DisputesPage.path
            case .work: SystemPages.workPath
            case .charts: SystemPages.chartsPath
            }
        }

        var words: String {
            switch self {
            case .accounts: "Accounts"
            case .disputes: "Disputes"
            case .work: "Outbox and webhooks"
            case .charts: "Charts"
            }
        }
    }

    let title: String
    let content: HTML
    var tab: Tab?
    var status = HTTPResponse.Status.ok
    /// Whether the page asks for itself again every few seconds.
    var isLive = false

    static let styles = [style]
    private static let style = PageFile(
        "operators.css",
        .style,
        Array((PageStyle.text + FormStyle.text + ConsoleStyle.text).utf8)
    )
    private static let script = PageFile("operators.js", .script, Array(ConsoleScript.text.utf8))
    /// The files that pages load.
    static let files = [style, script, .icon]

    /// The response for an operator.
    func response(for visit: Console.Visit) -> Response {
        let links = Tab.allCases.map { one -> HTML in
            let mark: HTML = one == tab ? " aria-current=\"page\"" : ""
            return "<a href=\"\(one.path)\"\(mark)>\(one.words)</a>\n"
        }
        let person = visit.person
        var page = PageDocument(
            title: "\(title) – Operators' console",
            body: """
                <a class="skip" href="#content">Skip to the content</a>
                <nav aria-label="Pages">
                \(links)<form method="post" action="\(SignInRoutes.signOutPath)" class="who">
                \(Self.hidden(visit))<span>\(person.name.value) (\(person.role.rawValue))</span> <button class="small" type="submit">Sign out</button>
                </form>
                </nav>
                <main id="content"\(HTML.attribute("data-live", isLive ? "" : nil))>
                <h1>\(title)</h1>
                \(content)</main>
                """
        )
        page.layout = "console"
        page.styles = Self.styles
        page.formTargets = "'self'"
        page.status = status
        if isLive {
            page.scripts = [Self.script]
            page.callsOwnOrigin = true
        }
        return page.response
    }

    /// What each form of a page of the session has.
    static func hidden(_ visit: Console.Visit) -> [HTML] {
        HTML.hidden([(PageForm.valueName, visit.session.formValue)])
    }

    /// A page about an act that the operator may not do, or not now.
    static func refusal(_ refusal: ActRefusal, _ visit: Console.Visit) -> Response {
        let parts = visit.request.uri.path.split(separator: "/").prefix(2)
        let back = ConsolePath(parts.map { "/\($0)" }.joined()) ?? .accounts
        let (title, status, words): (String, HTTPResponse.Status, HTML) =
            switch refusal {
            case .role(let role):
                (
                    "Not allowed", .forbidden,
                    "This needs the role \(role.rawValue); yours is \(visit.person.role.rawValue)."
                )
            case .signInTooOld:
                (
                    "Sign in again", .forbidden,
                    "Your sign-in is too old for this. Nothing was changed. \(visit.freshness)"
                )
            case .unconfirmed: ("Not confirmed", .badRequest, "Nothing was changed: check the box of the form.")
            case .numberDiffers:
                ("Another number", .badRequest, "Nothing was changed: that is not the number of this account.")
            case .phoneDiffers:
                (
                    "Another phone number", .conflict,
                    "Nothing was changed: the account has another phone number by now, or none. Look at it again."
                )
            case .tooManySearches:
                (
                    "Too many searches", .tooManyRequests,
                    "\(String(SearchLimit.countMax)) searches a minute are allowed. Wait a moment."
                )
            }
        let next: HTML =
            refusal == .signInTooOld
            ? "<a class=\"button strong\" href=\"\(SignInRoutes.beginAddress(back))\">Sign in again</a>"
            : "<a href=\"\(back.text)\">Back</a>"
        return ConsolePage(title: title, content: "<p>\(words)</p>\n<p>\(next)</p>\n", status: status)
            .response(for: visit)
    }

    /// A page in the place of one that a link of another site leads to.
    static func fromAnotherSite(_ visit: Console.Visit) -> Response {
        let path = String(visit.request.uri.path)
        let content: HTML = """
            <p>A link of another site led here. What you look at is recorded with your name, so go on only if you want to.</p>
            <p><a class="button strong" href="\(path)">Go on to \(path)</a></p>

            """
        return ConsolePage(title: "Go on?", content: content).response(for: visit)
    }

    /// A page about a call that identity refused.
    static func failure(_ error: RPCError, _ visit: Console.Visit) -> Response {
        let status: HTTPResponse.Status =
            switch error.code {
            case .notFound: .notFound
            case .invalidArgument, .failedPrecondition: .badRequest
            case .permissionDenied: .forbidden
            case .unavailable, .deadlineExceeded: .serviceUnavailable
            default: .badGateway
            }
        // Of a change without an answer nobody knows whether it was done.
        let isUnknown =
            visit.request.method == .post && (error.code == .deadlineExceeded || error.code == .unavailable)
        let doubt: HTML =
            isUnknown
            ? "<p><strong>It may have been done: look at the account before you try again.</strong></p>\n" : ""
        let content: HTML =
            "\(doubt)<p>\(error.message)</p>\n<p class=\"hint\"><code>\(error.reason ?? error.code.description)</code></p>\n"
        return ConsolePage(title: "That didn’t work", content: content, status: status).response(for: visit)
    }
}

/// Problems of requests that no page of a session answers.
enum ConsoleProblem {
    /// The problem of an error.
    static func problem(of error: any Error) -> Problem { error as? Problem ?? .internalError(cause: error) }

    /// A page about it.
    static func page(_ problem: Problem) -> Response {
        var page = PageDocument(
            title: "Operators' console",
            body: """
                <main>
                <h1>That didn’t work</h1>
                <p>\(problem.detail)</p>
                <p class="hint"><code>\(problem.code)</code></p>
                <p><a href="/">To the console</a></p>
                </main>
                """
        )
        page.styles = ConsolePage.styles
        page.status = problem.status
        var response = page.response
        response.headers[.allow] = problem.headers[.allow]
        response.headers[.retryAfter] = problem.headers[.retryAfter]
        response.closesConnection = problem.closesConnection
        return response
    }
}
