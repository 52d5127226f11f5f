import API
import HTTPJSON
import HTTPTypes
import JOSE
import RPC
import SwiftProtobuf
import WebPages

/// What operators do to an account: a form each, and `POST /accounts/{id}/{act}`.
enum AccountActs {
    /// What the account's page says after an act.
    static let done: [ConsoleAct: String] = [
        .endSessions: "All sessions ended.", .releasePhone: "The number is free.", .block: "The account is blocked.",
        .unblock: "The account is no longer blocked.",
    ]

    static func routes(_ console: Console) -> [Route] {
        ConsoleAct.changes.map { act in
            console.form("/accounts/{id}/\(act.rawValue)") { visit, form in
                try visit.require(act)
                let id = try AccountPage.id(visit)
                guard form["confirm"] == "yes" else { throw ActRefusal.unconfirmed }
                if act.isGuarded { try await requireNumber(form["number"], of: id, visit) }
                return try await perform(act, id, form, visit)
            }
        }
    }

    /// Makes sure that the operator looks at this account: its number stands on its page alone, and is typed in.
    private static func requireNumber(_ typed: String, of id: String, _ visit: Console.Visit) async throws {
        let account = try await visit.calls.find(.userID(id)).accounts.first
        guard let account else {
            throw Problem(.notFound, code: "ACCOUNT_NOT_FOUND", detail: "There is no such account.")
        }
        guard typed == account.accountNumber.description else { throw ActRefusal.numberDiffers }
    }

    private static func perform(
        _ act: ConsoleAct,
        _ id: String,
        _ form: PageForm,
        _ visit: Console.Visit
    ) async throws -> Response {
        let (client, options) = (visit.calls.client, visit.calls.options)
        switch act {
        case .endSessions: _ = try await client.endSessions(.with { $0.userID = id }, options: options)
        case .releasePhone:
            // The number that the operator has seen, and not what the user may have saved since.
            let account = try await visit.calls.find(.userID(id)).accounts.first
            guard let phone = account?.profile.phoneNumber, !phone.isEmpty,
                ConstantTime.areEqual(form["shown"], shownValue(phone, visit))
            else { throw ActRefusal.phoneDiffers }
            _ = try await client.releasePhone(.with { $0.userID = id }, options: options)
        case .block:
            let reason = form["reason"]
            _ = try await client.blockAccount(.with { ($0.userID, $0.reason) = (id, reason) }, options: options)
        case .unblock: _ = try await client.unblockAccount(.with { $0.userID = id }, options: options)
        case .delete:
            let answer = try await client.deleteAccount(.with { $0.userID = id }, options: options)
            return deleted(id, answer, visit)
        case .find, .list, .look, .disputes, .work, .charts, .reveal: break
        }
        return Console.seeOther("\(AccountPage.address(id))?done=\(act.rawValue)&by=\(doneValue(act, id, visit))")
    }

    /// Stands for a phone number in a form of this session, without showing it.
    private static func shownValue(_ phone: String, _ visit: Console.Visit) -> String {
        visit.seal("phone\0\(phone)")
    }

    /// Proves that this session did an act: no link of anybody's has a page say so.
    static func doneValue(_ act: ConsoleAct, _ id: String, _ visit: Console.Visit) -> String {
        visit.seal("done\0\(act.rawValue)\0\(id)")
    }

    private static func deleted(
        _ id: String,
        _ answer: OperatorV1.DeleteAccountResponse,
        _ visit: Console.Visit
    ) -> Response {
        let consents = answer.consentsLeft.joined(separator: ", ")
        let more: HTML =
            consents.isEmpty ? "" : "<p>The user must withdraw the consent themselves at: \(consents).</p>\n"
        let content: HTML = """
            <p role="status">The account is deleted\(answer.wasDeleted ? "; it was before" : "").</p>
            \(more)<p><a href="\(AccountPage.address(id))/events">Audit log</a></p>

            """
        return ConsolePage(title: "Deleted", content: content, tab: .accounts).response(for: visit)
    }

    /// The forms of the acts that the operator's role allows and that the account's state leaves.
    static func forms(_ visit: Console.Visit, _ account: OperatorV1.OperatorAccount) -> HTML {
        let acts = ConsoleAct.changes.filter { act in
            switch act {
            case .block: !account.hasBlock
            case .unblock: account.hasBlock
            case .releasePhone: !account.profile.phoneNumber.isEmpty
            default: true
            }
        }.filter { visit.person.role >= $0.role }
        guard !acts.isEmpty else { return "<p>Your role allows none.</p>\n" }
        return "\(acts.map { form($0, visit, account) })"
    }

    private static func form(
        _ act: ConsoleAct,
        _ visit: Console.Visit,
        _ account: OperatorV1.OperatorAccount
    ) -> HTML {
        let id = act.rawValue
        let reason: HTML =
            act != .block
            ? ""
            : ConsoleText.field(
                "\(id)-reason",
                "Reason",
                """
                <input id="\(id)-reason" name="reason" required maxlength="64" pattern="[a-z_]{1,64}" autocomplete="off" aria-describedby="\(id)-reason-hint">
                """,
                hint: "A word of letters a to z and underscores, such as abuse."
            )
        let number: HTML =
            !act.isGuarded
            ? ""
            : ConsoleText.field(
                "\(id)-number",
                "Number of the account, typed in",
                """
                <input id="\(id)-number" name="number" required inputmode="numeric" autocomplete="off" aria-describedby="\(id)-number-hint">
                """,
                hint: visit.freshness
            )
        let shown: [HTML] =
            act == .releasePhone ? HTML.hidden([("shown", shownValue(account.profile.phoneNumber, visit))]) : []
        return """
            <details>
            <summary>\(words(act))</summary>
            <p>\(consequence(act, account))</p>
            <form method="post" action="\(AccountPage.address(account.userID))/\(id)">
            \(ConsolePage.hidden(visit))\(shown)\(reason)\(number)<div class="check"><input type="checkbox" id="\(id)-confirm" name="confirm" value="yes" required>
            <label for="\(id)-confirm">Yes, do it</label></div>
            <button class="small danger" type="submit">\(words(act))</button>
            </form>
            </details>

            """
    }

    private static func words(_ act: ConsoleAct) -> String {
        switch act {
        case .endSessions: "End all sessions"
        case .releasePhone: "Release the phone number"
        case .block: "Block"
        case .unblock: "Unblock"
        case .delete: "Delete the account"
        case .find, .list, .look, .disputes, .work, .charts, .reveal: act.rawValue
        }
    }

    private static func consequence(_ act: ConsoleAct, _ account: OperatorV1.OperatorAccount) -> String {
        switch act {
        case .endSessions: "\(account.liveSessions) live sessions end. The user can sign in again at once."
        case .releasePhone: "Anybody may save the number at once. The account stays in its groups."
        case .block: "Its sessions end, and no sign-in opens another one until it is unblocked. Its data stays."
        case .unblock: "Its user can sign in again. Sessions that ended stay so."
        case .delete: "For good, in all services. The person can sign up anew: to keep them out, block the account."
        case .find, .list, .look, .disputes, .work, .charts, .reveal: ""
        }
    }
}
