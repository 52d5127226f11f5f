import API
import FoundationEssentials
import HTTPJSON
import IdentityDomain
import SwiftProtobuf
import WebPages

/// `GET /accounts`: the newest accounts with filters, and the search.
enum AccountsPage {
    static let searchPath = "/accounts/search"

    static func routes(_ console: Console) -> [Route] {
        [
            console.page(ConsolePath.accounts.text, .list) { visit in try await list(visit) },
            console.form(searchPath) { visit, form in try await search(visit, form) },
        ]
    }

    private static func search(_ visit: Console.Visit, _ form: PageForm) async throws -> Response {
        try visit.require(.find)
        guard let search = AccountSearchForm(kind: form["kind"], term: form["term"]) else {
            return Console.seeOther(ConsolePath.accounts.text)
        }
        let console = visit.console
        guard console.searches.take(visit.person.name.value, now: console.now()) else {
            throw ActRefusal.tooManySearches
        }
        let found = try await visit.calls.find(search.key)
        let rows = found.accounts.map { account -> [HTML] in
            [
                ConsoleText.account(account.userID),
                account.hasProfile ? "\(account.profile.displayName)" : "<span class=\"hint\">unknown now</span>",
                "\(Masking.phone(account.profile.phoneNumber))",
                "\(account.identities.map(\.provider).joined(separator: ", "))",
                ConsoleText.time(milliseconds: account.createdAtMs),
                account.hasBlock ? "<span class=\"failure\">blocked: \(account.block.reason)</span>" : "",
            ]
        }
        let result: HTML =
            rows.isEmpty
            ? "<p role=\"status\">There is no such account.</p>\n"
            : ConsoleText.table("Found accounts", ["Account", "Name", "Number", "Providers", "Created", "State"], rows)
        let more: HTML =
            found.isIncomplete ? "<p role=\"status\">There may be more: look for something narrower.</p>\n" : ""
        return ConsolePage(
            title: "Accounts",
            content: "\(AccountSearchForm.html(visit, kind: search.kind, term: search.term))\(result)\(more)",
            tab: .accounts
        ).response(for: visit)
    }

    private static func list(_ visit: Console.Visit) async throws -> Response {
        let filter = AccountListFilter(try FormFields(queryOf: visit.request))
        let page = try await visit.calls.client.listAccounts(filter.request, options: visit.calls.options)
        let rows = page.accounts.map { account -> [HTML] in
            var state: [HTML] = []
            if account.hasBlock { state.append("<span class=\"failure\">blocked: \(account.block.reason)</span> ") }
            if account.isImported { state.append("imported ") }
            if account.isGuest { state.append("guest") }
            return [
                ConsoleText.time(milliseconds: account.createdAtMs), ConsoleText.account(account.userID),
                "\(account.accountNumber.description)", "\(account.providers.joined(separator: ", "))", "\(state)",
            ]
        }
        let table: HTML =
            rows.isEmpty
            ? "<p>None of the accounts that were looked at.</p>\n"
            : ConsoleText.table("Accounts, newest first", ["Created", "Account", "Number", "Providers", "State"], rows)
        let next: HTML =
            page.nextPageToken.isEmpty
            ? "" : "<p><a href=\"\(filter.address(page: page.nextPageToken))\">Older accounts</a></p>\n"
        return ConsolePage(
            title: "Accounts",
            content:
                "\(AccountSearchForm.html(visit))\(ConsoleText.section("list", "Newest accounts", "\(filter.form)\(table)\(next)"))",
            tab: .accounts
        ).response(for: visit)
    }
}

/// The filters of the list of accounts, as the query has them. What can't be one counts as none.
struct AccountListFilter: Sendable, Hashable {
    private static let names = ["blocked", "imported", "guest", "provider", "since", "until"]
    /// The longest value, in bytes.
    private static let valueBytesMax = 64
    private static let pageSize: Int32 = 50

    private var values: [String: String] = [:]
    private var page = ""

    init(_ fields: FormFields) {
        for name in Self.names {
            guard let value = fields[name], 1...Self.valueBytesMax ~= value.utf8.count else { continue }
            values[name] = value
        }
        page = fields["page"] ?? ""
    }

    /// The request to identity.
    var request: OperatorV1.ListAccountsRequest {
        .with {
            ($0.pageSize, $0.pageToken, $0.provider) = (Self.pageSize, page, values["provider"] ?? "")
            if let flag = flag("blocked") { $0.isBlocked = flag }
            if let flag = flag("imported") { $0.isImported = flag }
            if let flag = flag("guest") { $0.isGuest = flag }
            ($0.createdFromMs, $0.createdBeforeMs) = (day("since"), day("until"))
        }
    }

    /// The address of a page with the same filters.
    func address(page: String) -> String {
        let fields = Self.names.compactMap { name in values[name].map { (name, $0) } } + [("page", page)]
        return ConsolePath.accounts.text + "?"
            + fields.map { "\($0.0)=\(FormFields.encode($0.1))" }.joined(separator: "&")
    }

    /// The form that sets them.
    var form: HTML {
        """
        <form method="get" action="\(ConsolePath.accounts.text)" class="inline">
        \(choice("blocked", "Blocked"))\(choice("imported", "Imported"))\(choice("guest", "Guests"))\
        <div><label for="provider">Provider</label>
        <input id="provider" name="provider" maxlength="32" value="\(values["provider"] ?? "")"></div>
        <div><label for="since">Created since</label>
        <input id="since" name="since" type="date" value="\(values["since"] ?? "")"></div>
        <div><label for="until">and before</label>
        <input id="until" name="until" type="date" value="\(values["until"] ?? "")"></div>
        <button type="submit">Filter</button>
        </form>

        """
    }

    private func flag(_ name: String) -> Bool? {
        switch values[name] {
        case "yes": true
        case "no": false
        default: nil
        }
    }

    /// The first moment of a day, UTC, in Unix milliseconds; 0 for none.
    private func day(_ name: String) -> Int64 {
        guard let text = values[name], let date = try? Date.ISO8601FormatStyle().year().month().day().parse(text) else {
            return 0
        }
        return Int64(date.timeIntervalSince1970 * 1000)
    }

    private func choice(_ name: String, _ label: String) -> HTML {
        let options = [("", "all"), ("yes", "only"), ("no", "none")].map { value, words -> HTML in
            let mark: HTML = value == values[name] ?? "" ? " selected" : ""
            return "<option value=\"\(value)\"\(mark)>\(words)</option>"
        }
        return
            "<div><label for=\"\(name)\">\(label)</label>\n<select id=\"\(name)\" name=\"\(name)\">\(options)</select></div>\n"
    }
}
