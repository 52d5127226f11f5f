import API
import HTTPJSON
import Hummingbird

/// `POST /groups/{id}/members`: adds a person by phone number, a member at once if a user has that number.
///
/// Answers 201 with the member also where they were in the group already: the service returns the one there is.
enum AddMember {
    static func route(_ authentication: Authentication, _ invites: InvitesServiceClient) -> Route {
        Route(.post, "/groups/{id}/members") { request, context in
            var call = InvitesV1.AddMemberRequest()
            call.userID = try await authentication.user(request, context)
            call.groupID = try context.parameters.require("id")
            var input = try await context.json(request)
            call.phoneNumber = input.string("phone_number")
            call.displayName = input.string("display_name")
            try input.finish()
            let options = authentication.callOptionsWithAddress(request, context)
            let member = try await invites.addMember(call, options: options).member
            return .json(member.json, status: .created)
        }
    }
}
