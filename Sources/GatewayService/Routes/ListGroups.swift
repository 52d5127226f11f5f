import API
import HTTPJSON
import Hummingbird
import JOSE

/// `GET /groups`: a page of the user's groups, newest first.
enum ListGroups {
    static func route(_ authentication: Authentication, _ invites: InvitesServiceClient) -> Route {
        Route(.get, "/groups") { request, context in
            var call = InvitesV1.ListGroupsRequest()
            call.userID = try await authentication.user(request, context)
            (call.pageSize, call.pageToken) = try request.page()
            let page = try await invites.listGroups(call, options: context.callOptions())
            return .json([
                "groups": .array(page.groups.map { .object($0.json) }),
                "next_page_token": .orNull(page.nextPageToken),
            ])
        }
    }
}
