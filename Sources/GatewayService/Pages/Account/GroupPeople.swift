import API
import HTTPJSON

/// The part of a group's page that changes while it is open: its members, and those whom it waits for.
enum GroupPeople {
    static func html(_ group: AppV1.Group, _ visit: AccountPages.Visit) async throws -> String {
        let user = try await visit.user()
        var call = AppV1.ListMembersRequest()
        call.groupID = group.groupID
        call.pageToken = try visit.query["page"] ?? ""
        let members = try await visit.methods.listMembers(call, user)
        var pending = AppV1.ListPendingRequest()
        pending.groupID = group.groupID
        pending.pageToken = try visit.query["waiting"] ?? ""
        let waiters = try await visit.methods.groups
            .listPending(pending, options: visit.methods.groupOptions(user))
        // Pending people are listed by themselves, with what is known of them there.
        let inside = members.members.filter { $0.state == .member }.map { member($0, group, visit) }
        let list = "<ul>\n\(inside.joined(separator: "\n"))\n</ul>"
        let next = visit.nextPage(GroupPage.address(group.groupID), members.nextPageToken)
        let inList = visit.section("members", .members, list + next)
        guard !waiters.people.isEmpty else { return inList }
        let people = waiters.people.map { person($0, group, visit) }
        let more = visit.nextPage(GroupPage.address(group.groupID), waiters.nextPageToken, name: "waiting")
        return "\(inList)\n"
            + visit.section("pending", .pending, "<ul>\n\(people.joined(separator: "\n"))\n</ul>\(more)")
    }

    private static func member(_ member: AppV1.Member, _ group: AppV1.Group, _ visit: AccountPages.Visit) -> String {
        let isUser = member.userID == visit.session.userID
        let name = [member.displayName, member.username].first { !$0.isEmpty } ?? visit.text[.unnamedPerson]
        let mark = isUser ? " <span class=\"mark\">\(visit.text.html(.you))</span>" : ""
        let facts = [member.username.isEmpty ? "" : "@\(member.username)", member.phoneNumber]
            .filter { !$0.isEmpty }.map { "<bdi>\(HTMLText.escaped($0))</bdi>" }
        let role = member.role == .member ? [] : [visit.text.html(member.role.key)]
        let line = (role + facts).joined(separator: " · ")
        let mayRemove = group.role == .owner ? !isUser : group.role == .admin && member.role == .member
        let remove =
            mayRemove
            ? "\n" + visit.button("\(address(group, member.memberID))/remove", .remove, about: name, style: "small")
            : ""
        return """
            <li class="card">
            <p class="name"><bdi>\(HTMLText.escaped(name))</bdi>\(mark)</p>\(line.isEmpty ? "" : "\n<p>\(line)</p>")\(remove)
            </li>
            """
    }

    private static func person(
        _ person: AppV1.PendingPerson,
        _ group: AppV1.Group,
        _ visit: AccountPages.Visit
    ) -> String {
        let name = person.displayName.isEmpty ? visit.text[.unnamedPerson] : person.displayName
        let phone = person.phoneNumber.isEmpty ? "" : " · <bdi>\(HTMLText.escaped(person.phoneNumber))</bdi>"
        var acts: [String] = []
        if person.mayConfirm, !person.userID.isEmpty {
            acts.append(
                visit.button(
                    "\(address(group, person.memberID))/confirm",
                    .confirmPerson,
                    about: name,
                    style: "small",
                    fields: [("user_id", person.userID)]
                )
            )
        }
        if group.role.decides || person.addedByUserID == visit.session.userID {
            acts.append(
                visit.button("\(address(group, person.memberID))/remove", .remove, about: name, style: "small")
            )
        }
        return """
            <li class="card">
            <p class="name"><bdi>\(HTMLText.escaped(name))</bdi>\(phone)</p>
            <p>\(visit.text.html(person.state.key)) · \(visit.time(person.since))</p>\(acts.map { "\n\($0)" }.joined())
            </li>
            """
    }

    private static func address(_ group: AppV1.Group, _ memberID: String) -> String {
        "\(GroupPage.address(group.groupID))/members/\(memberID)"
    }
}

extension AppV1.PendingState {
    fileprivate var key: PageText.Key {
        switch self {
        case .request: .pendingRequest
        case .doubt: .pendingDoubt
        case .number, .unspecified, .UNRECOGNIZED: .pendingNumber
        }
    }
}
