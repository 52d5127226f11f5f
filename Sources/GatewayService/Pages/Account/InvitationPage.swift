import API
import HTTPJSON
import HTTPTypes
import JOSE
import WebPages

/// The pages of an invitation link. `GET /my/join` is where the link leads: its token is in the fragment, which no server sees, so the
/// script puts it into the page's form, or the user does. `POST` keeps it in a cookie, since the user may have to sign in first.
/// `GET /my/invitation` shows the group, and `POST` joins it or doesn't.
enum InvitationPage {
    static let joinPath = "/my/join"
    static let path = "/my/invitation"
    /// For how long the browser keeps the token, in seconds.
    private static let maxAgeSeconds: Int64 = 1_800
    /// What a user may paste: a link of ours, or of an app that has the token at its end.
    private static let textBytesMax = 1_024
    private static let tokenBytesMax = 512
    private static let shownName = "invitation"

    static func routes(_ pages: AccountPages) -> [Route] {
        let cookie = pages.parts.pages.invitationCookie
        let languages = pages.parts.languages
        return [
            Route(
                .get,
                joinPath,
                isForOtherOrigins: false,
                atOnce: { request, _ in question(in: languages.text(for: request)).response }
            ),
            Route(.post, joinPath, isForOtherOrigins: false) { request, context in
                guard PageForm.isOfOwnSite(request, pages.parts.pages.origin) else { throw PageForm.foreign }
                let form = try await context.form(request)
                guard let token = token(of: form["invitation"] ?? ""),
                    let setting = cookie.setting(token, maxAgeSeconds: maxAgeSeconds)
                else { return question(in: languages.text(for: request), isFaulty: true).response }
                return Response(status: .seeOther, headers: [.location: path, .setCookie: setting])
            },
            pages.page(path) { visit in
                let token = cookie.value(visit.request)
                guard !token.isEmpty else { return AccountPages.seeOther(joinPath) }
                do {
                    var call = AppV1.PreviewGroupLinkRequest()
                    call.token = token
                    let options = visit.methods.groupOptions(try await visit.user(isChange: true))
                    let preview = try await visit.methods.groups.previewGroupLink(call, options: options)
                    return page(preview, mark(of: token), visit).response
                } catch {
                    guard
                        var page = visit.page(
                            about: Problem(answering: error),
                            goal: ReturnPath(GroupsPage.path) ?? .account
                        )
                    else { throw error }
                    page.headers[.setCookie] = cookie.clearing
                    return page
                }
            },
            pages.form(path, goal: ReturnPath(path) ?? .account) { visit, form in
                let token = cookie.value(visit.request)
                // Another page may have put another invitation into the cookie: the user decides about the one that was shown.
                guard ConstantTime.areEqual(form[shownName], mark(of: token)) else {
                    return AccountPages.seeOther(path)
                }
                var response = try await decided(token, form, visit)
                response.headers[.setCookie] = cookie.clearing
                return response
            },
        ]
    }

    private static func decided(
        _ token: String,
        _ form: PageForm,
        _ visit: AccountPages.Visit
    ) async throws -> Response {
        guard !token.isEmpty else { return AccountPages.seeOther(joinPath) }
        guard form["accept"] == "yes" else { return AccountPages.seeOther(GroupsPage.path) }
        var call = AppV1.JoinByLinkRequest()
        call.token = token
        let options = visit.methods.groupOptions(try await visit.user(isChange: true))
        let joined = try await visit.methods.groups.joinByLink(call, options: options)
        guard joined.state == .member else { return AccountPages.seeOther(GroupsPage.path, .asked) }
        return AccountPages.seeOther(GroupPage.address(joined.groupID), .joined)
    }

    /// The token of what a user pasted: all behind the last mark that no token has.
    static func token(of text: String) -> String? {
        guard text.utf8.count <= textBytesMax else { return nil }
        let trimmed = text.split(whereSeparator: \.isWhitespace).joined()
        let token = String(trimmed.split(omittingEmptySubsequences: false) { "#/=?&".contains($0) }.last ?? "")
        guard 1...tokenBytesMax ~= token.utf8.count, token.utf8.allSatisfy(Authentication.isTokenByte) else {
            return nil
        }
        return token
    }

    private static func question(in text: PageText, isFaulty: Bool = false) -> Page {
        let alert = isFaulty ? "<p class=\"notice\" role=\"alert\">\(text.html(.linkInvalid))</p>\n" : ""
        var page = Page(
            text: text,
            title: text[.invitation],
            content: """
                \(alert)<form class="invitation" method="post" action="\(joinPath)">
                <div class="field">
                <label for="invitation">\(text.html(.pasteInvitation))</label>
                <input id="invitation" name="invitation" type="text" required="" maxlength="\(textBytesMax)" autocomplete="off" \
                autocapitalize="none" spellcheck="false" dir="ltr">
                </div>
                <button class="strong" type="submit">\(text.html(.forward))</button>
                </form>
                """
        )
        if isFaulty { page.status = .unprocessableContent }
        return page
    }

    /// A hash by which a form names the invitation that it was shown for. The token can't be computed from it.
    static func mark(of token: String) -> String { Base64URL.encode(SHA256.hash("shown \(token)")) }

    private static func page(
        _ preview: AppV1.PreviewGroupLinkResponse,
        _ mark: String,
        _ visit: AccountPages.Visit
    ) -> Page {
        let name = "<p class=\"name\"><bdi>\(HTMLText.escaped(preview.groupName))</bdi></p>"
        if preview.isMember {
            let open = visit.link(GroupPage.address(preview.groupID), .openGroup)
            return visit.page(
                visit.text[.invitation],
                "\(name)\n<p>\(visit.text.html(.alreadyMember))</p>\n<p>\(open)</p>"
            )
        }
        let effect: PageText.Key = preview.openness == .confirm ? .joinEffectConfirm : .joinEffectMember
        let buttons = """
            \(Page.hiddenFields([(shownName, mark)]))
            <button class="strong" type="submit" name="accept" value="yes">\(visit.text.html(.join))</button>
            <button type="submit" name="accept" value="no">\(visit.text.html(.notNow))</button>
            """
        return visit.page(
            visit.text[.invitation],
            """
            \(name)
            <p>\(visit.text.html(effect)) \(visit.text.html(.validUntil)) \(visit.time(preview.expiresAt))</p>
            \(visit.form(path, buttons))
            """
        )
    }
}
