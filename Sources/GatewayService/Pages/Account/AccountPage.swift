import API
import HTTPJSON
import HTTPTypes
import SwiftProtobuf
import WebPages

/// `GET /my/account`: how the user signs in, from where, and what becomes of the account.
enum AccountPage {
    static let path = "/my/account"
    static let everywherePath = "\(path)/sign-out-everywhere"

    static func routes(_ pages: AccountPages) -> [Route] {
        [
            Route(.get, "/my", isForOtherOrigins: false, atOnce: { _, _ in AccountPages.seeOther(path) }),
            pages.page(path) { visit in try await page(visit).response },
            pages.form("\(path)/sessions/{session_id}/name") { visit, form in
                var call = AppV1.RenameSessionRequest()
                call.sessionID = try visit.context.parameters.require("session_id")
                call.deviceName = form["name"]
                _ = try await visit.methods.renameSession(call, visit.user(isChange: true))
                return AccountPages.seeOther(path, .renamed)
            },
            pages.form("\(path)/sessions/{session_id}/end") { visit, _ in
                var call = AppV1.EndSessionRequest()
                call.sessionID = try visit.context.parameters.require("session_id")
                _ = try await visit.methods.endSession(call, visit.user(isChange: true))
                return AccountPages.seeOther(path, .ended)
            },
            pages.form(everywherePath) { visit, form in
                var call = AppV1.SignOutEverywhereRequest()
                call.exceptCurrent = form["which"] != "all"
                _ = try await visit.methods.signOutEverywhere(call, visit.session.caller)
                guard !call.exceptCurrent else { return AccountPages.seeOther(path, .others) }
                return visit.signedOut(Page.message(.signedOut, .signedOutText, in: visit.text))
            },
        ]
    }

    private static func page(_ visit: AccountPages.Visit) async throws -> Page {
        let user = try await visit.user()
        async let me = visit.methods.getMe(.init(), user).profile
        async let providers = visit.methods.listProviders(.init(), user).providers
        async let passkeys = passkeys(visit, user)
        let listed = try await visit.methods.listSessions(.init(), user)
        let parts = try [
            visit.notice,
            NewSignIns.notice(listed.sessions, visit),
            listed.hasDeletesAt ? deletion(listed.deletesAt, visit) : "",
            profile(await me, visit),
            ProvidersPart.html(await providers, visit),
            passkeysPart(await passkeys, await providers, visit),
            sessions(listed.sessions, visit),
            changes(listed.recentChanges, visit),
            visit.section("data", .yourData, links(visit)),
            visit.form(
                EndBrowserSessionRoute.path,
                "\(Page.hiddenFields([(EndBrowserSessionRoute.confirmedName, "yes")]))\n\(visit.submit(.signOutButton))"
            ),
        ]
        var page = visit.page(
            visit.text[.account],
            parts.filter { !$0.isEmpty }.joined(separator: "\n"),
            current: .account
        )
        if visit.signIn.passkeysEnabled { page.scripts.append(.passkeyScript) }
        return page
    }

    private static func passkeys(_ visit: AccountPages.Visit, _ user: SignedInUser) async throws -> [AppV1.Passkey] {
        visit.signIn.passkeysEnabled ? try await visit.methods.listPasskeys(.init(), user).passkeys : []
    }

    private static func passkeysPart(
        _ passkeys: [AppV1.Passkey],
        _ providers: [AppV1.LinkedProvider],
        _ visit: AccountPages.Visit
    ) -> String {
        guard visit.signIn.passkeysEnabled else { return "" }
        let isOnlyWayIn = providers.allSatisfy { $0.provider == AccountPages.passkeyProvider }
        return PasskeysPart.html(passkeys, isOnlyWayIn: isOnlyWayIn, visit)
    }

    private static func profile(_ me: AppV1.Profile, _ visit: AccountPages.Visit) -> String {
        let rows: [(PageText.Key, String)] = [
            (.displayName, me.displayName), (.username, me.username), (.phoneNumber, me.phoneNumber),
        ]
        let list = rows.filter { !$0.1.isEmpty }
            .map { "<div><dt>\(visit.text.html($0.0))</dt><dd><bdi>\(HTMLText.escaped($0.1))</bdi></dd></div>" }
        let facts = list.isEmpty ? "" : "<dl>\n\(list.joined(separator: "\n"))\n</dl>\n"
        return visit.section("profile", .profile, facts + "<p>\(visit.link(ProfilePage.path, .editProfile))</p>")
    }

    private static func sessions(_ sessions: [AppV1.Session], _ visit: AccountPages.Visit) -> String {
        let items = sessions.map { session in
            let name = session.deviceName.isEmpty ? visit.text[.unnamedDevice] : session.deviceName
            let address = "\(path)/sessions/\(session.sessionID)"
            let field = "name-\(session.sessionID)"
            let mark = session.isCurrent ? " <span class=\"mark\">\(visit.text.html(.thisDevice))</span>" : ""
            let end =
                session.isCurrent ? "" : visit.button("\(address)/end", .endSession, about: name, style: "small")
            let rename = visit.form(
                "\(address)/name",
                """
                <label for="\(field)">\(visit.text.html(.deviceName))</label>
                <input id="\(field)" name="name" value="\(HTMLText.escaped(session.deviceName))" required="" maxlength="200" autocomplete="off">
                \(visit.submit(.save, about: name, style: "small"))
                """
            )
            return """
                <li class="card">
                <p class="name"><bdi>\(HTMLText.escaped(name))</bdi>\(mark)</p>
                <p>\(visit.text.html(.signedInBy, ["provider": visit.providerName(session.provider)])) · \
                \(visit.text.html(.lastUsed)) \(visit.time(session.lastUsedAt))</p>
                \(visit.unfolding(.rename, about: name, rename))
                \(end)
                </li>
                """
        }
        let buttons = """
            <button type="submit" name="which" value="others">\(visit.text.html(.signOutOthers))</button>
            <button type="submit" name="which" value="all">\(visit.text.html(.signOutEverywhere))</button>
            """
        return visit.section(
            "sessions",
            .devices,
            "<ul>\n\(items.joined(separator: "\n"))\n</ul>\n\(visit.form(everywherePath, buttons, attributes: " class=\"after\""))"
        )
    }

    private static func changes(_ changes: [AppV1.AccountChange], _ visit: AccountPages.Visit) -> String {
        let items = changes.prefix(10).compactMap { change -> String? in
            guard let key = ProvidersPart.changeKeys[change.kind] else { return nil }
            let sentence = visit.text.html(key, ["provider": visit.providerName(change.provider)])
            let device = change.deviceName.isEmpty ? "" : " · <bdi>\(HTMLText.escaped(change.deviceName))</bdi>"
            return "<li>\(sentence) · \(visit.time(change.occurredAt))\(device)</li>"
        }
        guard !items.isEmpty else { return "" }
        return visit.section("changes", .recentChanges, "<ul class=\"plain\">\n\(items.joined(separator: "\n"))\n</ul>")
    }

    private static func deletion(_ moment: Google_Protobuf_Timestamp, _ visit: AccountPages.Visit) -> String {
        """
        <div class="notice" role="status">
        <p>\(visit.text.html(.deletionScheduled)) \(visit.time(moment))</p>
        \(visit.button(DeletionPage.cancelPath, .keepAccount))
        </div>
        """
    }

    private static func links(_ visit: AccountPages.Visit) -> String {
        """
        <ul>
        <li>\(visit.link(DataRoute.path, .downloadData))</li>
        <li>\(visit.link(DeletionPage.path, .deleteAccount))</li>
        </ul>
        """
    }
}

extension AccountPages.Visit {
    /// A page for a user whose session has ended by what they did.
    func signedOut(_ page: Page) -> Response {
        var response = page.response
        response.headers[.setCookie] = parts.pages.sessionCookie.clearing
        return response
    }
}
