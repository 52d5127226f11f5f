import API
import WebPages

/// What a page shows of an account.
struct AccountView: Sendable {
    let account: OperatorV1.OperatorAccount
    /// Whether numbers, addresses and providers' names for the person are shown in clear.
    let isOpen: Bool

    /// Whether it is blocked, since when and why.
    var state: HTML {
        guard account.hasBlock else { return "" }
        return """
            <p class="failure">Blocked since \(ConsoleText.time(milliseconds: account.block.sinceMs)): \(account.block.reason)</p>

            """
    }

    /// Who it is.
    var person: HTML {
        let profile = account.profile
        let unknown = account.hasProfile ? "none" : "profile can’t be asked now"
        func text(_ value: String) -> HTML { value.isEmpty ? "<span class=\"hint\">\(unknown)</span>" : "\(value)" }
        return """
            <dl>
            <div><dt>Id</dt><dd><code>\(account.userID)</code></dd></div>
            <div><dt>Number of the account</dt><dd>\(account.accountNumber.description)</dd></div>
            <div><dt>Created</dt><dd>\(ConsoleText.time(milliseconds: account.createdAtMs))</dd></div>
            <div><dt>Name</dt><dd>\(text(profile.displayName))</dd></div>
            <div><dt>Username</dt><dd>\(text(profile.username))</dd></div>
            <div><dt>Phone number</dt><dd>\(text(isOpen ? profile.phoneNumber : Masking.phone(profile.phoneNumber)))</dd></div>
            </dl>

            """
    }

    /// By what its user signs in.
    var identities: HTML {
        guard !account.identities.isEmpty else { return "<p>None.</p>\n" }
        let rows = account.identities.map { identity -> [HTML] in
            let email: HTML =
                identity.isPrivateEmail
                ? "<span class=\"hint\">a relay address</span>"
                : "\(isOpen ? identity.email : Masking.email(identity.email))"
            let isVerified = !identity.email.isEmpty && identity.emailVerified
            return [
                "\(identity.provider)", "<code>\(isOpen ? identity.subject : Masking.subject(identity.subject))</code>",
                email, isVerified ? "yes" : "no",
                ConsoleText.time(milliseconds: identity.lastSignInAtMs), identity.disabled ? "disabled there" : "",
            ]
        }
        return ConsoleText.table(
            "Identities, oldest first",
            ["Provider", "Subject", "E-mail", "Verified", "Last sign-in", "State"],
            rows
        )
    }

    /// Its sessions.
    static func sessions(_ answer: OperatorV1.ListSessionsResponse) -> HTML {
        guard !answer.sessions.isEmpty else { return "<p>None.</p>\n" }
        let rows = answer.sessions.map { session -> [HTML] in
            let state = session.isLive ? "live" : session.endReason.isEmpty ? "over" : "ended: \(session.endReason)"
            return [
                "\(session.deviceName)", "\(state)", "\(session.provider)", "<code>\(session.clientID)</code>",
                ConsoleText.time(milliseconds: session.createdAtMs),
                ConsoleText.time(milliseconds: session.lastUsedAtMs),
                "<code>\(session.sessionID)</code>",
            ]
        }
        let more: HTML = answer.isIncomplete ? "<p>There are more.</p>\n" : ""
        let heads = ["Device", "State", "Provider", "App", "Began", "Last used", "Id"]
        return "\(ConsoleText.table("Sessions, the one used last first", heads, rows))\(more)"
    }

    /// Its groups; nil if they can't be had now.
    static func groups(_ answer: OperatorV1.ListGroupsResponse?) -> HTML {
        guard let answer else { return "<p>Invites can’t be asked now.</p>\n" }
        guard !answer.groups.isEmpty else { return "<p>None.</p>\n" }
        let rows = answer.groups.map { group -> [HTML] in
            [
                "\(group.name)", "\(group.role)", ConsoleText.time(milliseconds: group.createdAtMs),
                "<code>\(group.groupID)</code>",
            ]
        }
        let more: HTML = answer.isIncomplete ? "<p>There are more.</p>\n" : ""
        return "\(ConsoleText.table("Groups, newest first", ["Name", "Role", "Created", "Id"], rows))\(more)"
    }
}
