import API
import FoundationEssentials
import HTTPJSON
import HTTPTypes
import WebPages

/// `GET` and `POST /my/groups`: the user's groups and invitations, and a form for a new group.
enum GroupsPage {
    static let path = "/my/groups"

    static func routes(_ pages: AccountPages) -> [Route] {
        [
            pages.page(path) { visit in try await page(visit).response },
            pages.form(path, goal: ReturnPath(path) ?? .account) { visit, form in
                var call = AppV1.CreateGroupRequest()
                call.name = form["name"]
                call.idempotencyKey = form["key"]
                let created = try await visit.methods.createGroup(call, visit.user(isChange: true)).group
                return AccountPages.seeOther("\(path)/\(created.groupID)", .created)
            },
        ]
    }

    private static func page(_ visit: AccountPages.Visit) async throws -> Page {
        let options = visit.methods.groupOptions(try await visit.user())
        var groups = AppV1.ListGroupsRequest()
        groups.pageToken = try visit.query["page"] ?? ""
        async let invitations = visit.methods.groups.listMyInvitations(.init(), options: options).invitations
        let listed = try await visit.methods.groups.listGroups(groups, options: options)
        let items = listed.groups.map { group in
            "<li><a class=\"button\" href=\"\(path)/\(group.groupID)\"><bdi>\(HTMLText.escaped(group.name))</bdi></a></li>"
        }
        let list =
            items.isEmpty
            ? "<p>\(visit.text.html(.noGroups))</p>" : "<ul>\n\(items.joined(separator: "\n"))\n</ul>"
        let next = visit.nextPage(path, listed.nextPageToken)
        let new = visit.form(
            path,
            """
            \(Page.hiddenFields([("key", UUID().uuidString.lowercased())]))
            <div class="field">
            <label for="name">\(visit.text.html(.groupName))</label>
            <input id="name" name="name" type="text" required="" maxlength="200" autocomplete="off">
            </div>
            \(visit.submit(.createGroup))
            """
        )
        let parts = [
            try visit.notice, list + next, Self.invitations(try await invitations, visit),
            visit.section("new", .newGroup, new),
        ]
        return visit.page(
            visit.text[.groups],
            parts.filter { !$0.isEmpty }.joined(separator: "\n"),
            current: .groups
        )
    }

    private static func invitations(_ invitations: [AppV1.Invitation], _ visit: AccountPages.Visit) -> String {
        guard !invitations.isEmpty else { return "" }
        let items = invitations.map { invitation in
            let address = "\(path)/\(invitation.groupID)/members/\(invitation.memberID)"
            let name = invitation.groupName
            var acts = visit.button("\(address)/decline", .decline, about: name, style: "small")
            if invitation.state == .consent {
                acts = "\(visit.button("\(address)/accept", .accept, about: name, style: "small"))\n\(acts)"
            }
            let state: PageText.Key =
                invitation.isRequest ? .requestWaits : invitation.state == .consent ? .invited : .confirmationWaits
            return """
                <li class="card">
                <p class="name"><bdi>\(HTMLText.escaped(name))</bdi></p>
                <p>\(visit.text.html(state)) · \(visit.time(invitation.since))</p>
                \(acts)
                </li>
                """
        }
        return visit.section("invitations", .invitations, "<ul>\n\(items.joined(separator: "\n"))\n</ul>")
    }
}

extension AccountPages.Visit {
    /// A link to the next page of a list; empty if there is none.
    ///
    /// - Parameters:
    ///   - path: that of the list.
    ///   - name: the parameter that takes the token.
    func nextPage(_ path: String, _ token: String, name: String = "page") -> String {
        token.isEmpty ? "" : "\n<p class=\"after\">\(link("\(path)?\(name)=\(FormFields.encode(token))", .more))</p>"
    }
}
