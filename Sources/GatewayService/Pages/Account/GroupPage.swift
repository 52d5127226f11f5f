import API
import HTTPJSON
import HTTPTypes

/// `GET /my/groups/{group_id}`: a group with its members and pending people. The script asks for the list anew (`…/people`) as
/// it changes (`…/live`); without scripts the user loads the page again.
enum GroupPage {
    static let path = "\(GroupsPage.path)/{group_id}"

    static func routes(_ pages: AccountPages) -> [Route] {
        [
            pages.page(path) { visit in try await page(visit).response },
            pages.page("\(path)/people") { visit in
                let group = try await group(visit)
                let people = try await GroupPeople.html(group, visit)
                // For the script alone: opened by itself it has no style, sends nothing, and no site can frame it.
                let headers: HTTPFields = [
                    .contentType: "text/html; charset=utf-8", .cacheControl: "no-store",
                    .contentSecurityPolicy:
                        "default-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
                ]
                return Response(status: .ok, headers: headers, body: ResponseBody(people))
            },
            GroupLive.route(pages),
        ]
    }

    /// The group of the path.
    ///
    /// - Throws: as GetGroup, such as 404 for one that the user isn't in.
    static func group(_ visit: AccountPages.Visit) async throws -> AppV1.Group {
        var call = AppV1.GetGroupRequest()
        call.groupID = try visit.context.parameters.require("group_id")
        let options = visit.methods.groupOptions(try await visit.user())
        return try await visit.methods.groups.getGroup(call, options: options).group
    }

    /// The address of a group's page.
    static func address(_ groupID: String) -> String { "\(GroupsPage.path)/\(groupID)" }

    /// The group's page.
    ///
    /// - Parameters:
    ///   - alert: what was wrong with a form of it; empty for nothing.
    ///   - name, phone: what that form had.
    static func page(
        _ visit: AccountPages.Visit,
        alert: String = "",
        name: String = "",
        phone: String = ""
    ) async throws -> Page {
        let group = try await group(visit)
        let address = address(group.groupID)
        let warning = alert.isEmpty ? "" : "<p class=\"notice\" role=\"alert\">\(HTMLText.escaped(alert))</p>\n"
        let facts = visit.text.html(group.openness.key)
        let people = """
            <div id="people" data-live="\(address)/live" data-people="\(address)/people">
            \(try await GroupPeople.html(group, visit))
            </div>
            <p class="hidden" id="changed" role="status" data-text="\(visit.text.html(.listChanged))"></p>
            <noscript><p><a href="\(address)">\(visit.text.html(.reload))</a></p></noscript>
            """
        let add = visit.form(
            "\(address)/members",
            """
            <div class="field">
            <label for="display_name">\(visit.text.html(.personName))</label>
            <input id="display_name" name="display_name" type="text" value="\(HTMLText.escaped(name))" required="" \
            maxlength="200" autocomplete="off">
            </div>
            <div class="field">
            <label for="phone_number">\(visit.text.html(.phoneNumber))</label>
            <input id="phone_number" name="phone_number" type="tel" value="\(HTMLText.escaped(phone))" required="" \
            maxlength="40" inputmode="tel" autocomplete="off" dir="ltr">
            </div>
            \(visit.submit(.addPerson))
            """
        )
        let parts = [
            try visit.notice, warning + "<p>\(facts)</p>", people, visit.section("add", .addPerson, add),
            group.role.decides ? try await links(group, visit) : "",
            group.role == .owner
                ? "" : visit.unfolding(.leaveGroup, visit.button("\(address)/leave", .leaveGroup, style: "danger")),
        ]
        var page = visit.page(group.name, parts.filter { !$0.isEmpty }.joined(separator: "\n"), current: .groups)
        page.isLive = true
        return page
    }

    private static func links(_ group: AppV1.Group, _ visit: AccountPages.Visit) async throws -> String {
        var call = AppV1.ListGroupLinksRequest()
        call.groupID = group.groupID
        let options = visit.methods.groupOptions(try await visit.user())
        let links = try await visit.methods.groups.listGroupLinks(call, options: options).links
        let address = "\(address(group.groupID))/links"
        let items = links.map { link in
            let uses = link.usesMax == 0 ? "\(link.uses)" : "\(link.uses) / \(link.usesMax)"
            return """
                <li class="card">
                <p>\(visit.text.html(.linkUses)) \(uses) · \(visit.text.html(.validUntil)) \(visit.time(link.expiresAt))</p>
                \(visit.button("\(address)/\(link.linkID)/revoke", .revokeLink, style: "small"))
                </li>
                """
        }
        let list = items.isEmpty ? "" : "<ul>\n\(items.joined(separator: "\n"))\n</ul>\n"
        let new = visit.form(address, visit.submit(.createLink), attributes: " class=\"after\"")
        return visit.section(
            "links",
            .invitationLinks,
            "<p>\(visit.text.html(.invitationLinksText))</p>\n\(list)\(new)"
        )
    }
}

extension AppV1.GroupRole {
    /// Whether it decides about pending people, and makes links.
    var decides: Bool { self == .owner || self == .admin }

    var key: PageText.Key {
        switch self {
        case .owner: .roleOwner
        case .admin: .roleAdmin
        case .member, .unspecified, .UNRECOGNIZED: .roleMember
        }
    }
}

extension AppV1.GroupOpenness {
    var key: PageText.Key {
        switch self {
        case .open: .opennessOpen
        case .confirm: .opennessConfirm
        case .consent, .unspecified, .UNRECOGNIZED: .opennessConsent
        }
    }
}
