import API
import HTTPJSON
import Hummingbird
import JOSE

/// `GET /groups/{id}/members`: a page of a group's members and pending members, oldest first.
enum ListMembers {
    static func route(_ authentication: Authentication, _ invites: InvitesServiceClient) -> Route {
        Route(.get, "/groups/{id}/members") { request, context in
            var call = InvitesV1.ListMembersRequest()
            call.userID = try await authentication.user(request, context)
            call.groupID = try context.parameters.require("id")
            (call.pageSize, call.pageToken) = try request.page()
            let page = try await invites.listMembers(call, options: context.callOptions())
            return .json([
                "members": .array(page.members.map { .object($0.json) }),
                "next_page_token": .orNull(page.nextPageToken),
            ])
        }
    }
}
