import API
import HTTPJSON
import HTTPTypes
import JOSE
import RPC
import SwiftProtobuf
import WebPages

/// `GET /accounts/{id}`: one account, its numbers, addresses and subjects masked; and the form that opens them with a reason.
enum AccountPage {
    static let path = "/accounts/{id}"
    private static let openPath = "/accounts/{id}/open"
    private static let eventsPath = "/accounts/{id}/events"
    /// The events on the page itself, out of the newest of a page of the log.
    private static let eventsShown = 10
    private static let eventsOfPage: Int32 = 100

    static func routes(_ console: Console) -> [Route] {
        [
            console.page(path, .look) { visit in try await show(visit) },
            console.form(openPath) { visit, form in
                try visit.require(.reveal)
                let reason = form["reason"]
                guard !reason.isEmpty else { return Console.seeOther(address(try id(visit))) }
                return try await show(visit, reason: reason)
            },
            console.page(eventsPath, .look) { visit in try await events(visit) },
        ]
    }

    /// The path of an account.
    static func address(_ id: String) -> String { "/accounts/\(id)" }

    /// The account of a path, as identity is asked.
    static func id(_ visit: Console.Visit) throws(Problem) -> String {
        let id = try visit.context.parameters.require("id")
        guard id.utf8.count == 36,
            id.utf8.allSatisfy({ $0 == UInt8(ascii: "-") || Character(UnicodeScalar($0)).isHexDigit })
        else { throw Problem(.notFound, code: "NOT_FOUND", detail: "There is no such account.") }
        return id
    }

    /// - Parameter reason: why what is masked is shown; empty to mask them.
    private static func show(_ visit: Console.Visit, reason: String = "") async throws -> Response {
        let (id, calls) = (try id(visit), visit.calls)
        guard let account = try await calls.find(.userID(id), reason: reason).accounts.first else {
            let content: HTML = """
                <p>There is no such account. Of a deleted one the audit log stays.</p>
                <p><a href="\(address(id))/events">Audit log</a></p>

                """
            return ConsolePage(title: "No account", content: content, tab: .accounts, status: .notFound)
                .response(for: visit)
        }
        let sessions = try await calls.client.listSessions(.with { $0.userID = id }, options: calls.options)
        let events = try await calls.client.listSecurityEvents(
            .with { ($0.userID, $0.pageSize) = (id, eventsOfPage) },
            options: calls.options
        )
        // Invites may be down: the rest is shown.
        let groups = try? await calls.client.listGroups(.with { $0.userID = id }, options: calls.options)
        let view = AccountView(account: account, isOpen: !reason.isEmpty)
        // Without what operators looked at, which each visit of this page adds to.
        let changes = events.events.filter { $0.kind != "account_found" }.prefix(eventsShown)
        let log: HTML = """
            \(EventsTable.html(Array(changes)))<p><a href="\(address(id))/events">Whole audit log</a>, with what operators looked at</p>

            """
        let content: HTML = """
            \(notice(visit))\(view.state)\(view.person)\(openForm(visit, account, isOpen: !reason.isEmpty))\
            \(ConsoleText.section("identities", "Identities", view.identities))\
            \(ConsoleText.section("sessions", "Sessions", AccountView.sessions(sessions)))\
            \(ConsoleText.section("groups", "Groups", AccountView.groups(groups)))\
            \(ConsoleText.section("acts", "Acts", AccountActs.forms(visit, account)))\
            \(ConsoleText.section("log", "Audit log", log))
            """
        return ConsolePage(title: "Account \(account.accountNumber)", content: content, tab: .accounts)
            .response(for: visit)
    }

    private static func openForm(
        _ visit: Console.Visit,
        _ account: OperatorV1.OperatorAccount,
        isOpen: Bool
    ) -> HTML {
        guard !isOpen else {
            return
                "<p class=\"notice\" role=\"status\">Numbers, addresses and subjects are open on this page alone.</p>\n"
        }
        guard visit.person.role >= ConsoleAct.reveal.role else { return "" }
        return """
            <form method="post" action="\(address(account.userID))/open" class="inline">
            \(ConsolePage.hidden(visit))<div><label for="open-reason">Reason, for the audit log</label>
            <input id="open-reason" name="reason" required maxlength="64" pattern="[a-z_]{1,64}" autocomplete="off"
              aria-describedby="open-hint">
            <p class="hint" id="open-hint">A word of letters a to z and underscores, such as support_ticket.</p></div>
            <button type="submit">Show numbers, addresses and subjects</button>
            </form>

            """
    }

    private static func notice(_ visit: Console.Visit) -> HTML {
        guard let word = visit.request.uri.queryParameters["done"], let act = ConsoleAct(rawValue: word),
            let words = AccountActs.done[act], let id = try? id(visit),
            let by = visit.request.uri.queryParameters["by"],
            ConstantTime.areEqual(by, AccountActs.doneValue(act, id, visit))
        else { return "" }
        return "<p class=\"notice\" role=\"status\">\(words)</p>\n"
    }

    private static func events(_ visit: Console.Visit) async throws -> Response {
        let (id, calls) = (try id(visit), visit.calls)
        let token = try FormFields(queryOf: visit.request)["page"] ?? ""
        let page = try await calls.client.listSecurityEvents(
            .with { ($0.userID, $0.pageSize, $0.pageToken) = (id, eventsOfPage, token) },
            options: calls.options
        )
        let next: HTML =
            page.nextPageToken.isEmpty
            ? ""
            : "<p><a href=\"\(address(id))/events?page=\(FormFields.encode(page.nextPageToken))\">Older events</a></p>\n"
        let content: HTML = "<p>Of \(ConsoleText.account(id))</p>\n\(EventsTable.html(page.events))\(next)"
        return ConsolePage(title: "Audit log", content: content, tab: .accounts).response(for: visit)
    }
}

/// Events of the audit log.
enum EventsTable {
    static func html(_ events: [OperatorV1.SecurityEvent]) -> HTML {
        guard !events.isEmpty else { return "<p>Nothing is recorded.</p>\n" }
        let rows = events.map { event -> [HTML] in
            [
                ConsoleText.time(milliseconds: event.occurredAtMs), "\(event.kind)",
                "<code>\(event.detailsJson)</code>",
                event.sessionID.isEmpty ? "" : "<code>\(event.sessionID)</code>",
            ]
        }
        return ConsoleText.table("Events, newest first", ["Time", "Event", "Details", "Session"], rows)
    }
}
