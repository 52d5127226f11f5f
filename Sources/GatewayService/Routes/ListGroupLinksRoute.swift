import API
import HTTPJSON
import HTTPTypes
import JOSE

/// `GET /groups/{id}/links`: a group's links that are good, newest first.
enum ListGroupLinksRoute {
    static let operation = OpenAPI.Operation(
        .get,
        "/groups/{id}/links",
        id: "listGroupLinks",
        tag: .groups,
        summary: "A group's links that are good, newest first",
        description: """
            Admins and the owner may.
            """,
        caller: .user,
        parameters: [.groupID],
        answers: [200: .groupLinks],
        problems: [.forbidden, .notFound]
    )

    static func endpoint(_ methods: AppMethods) -> Endpoint {
        Endpoint(operation) { request, context in
            let user = try await methods.authentication.user(.route(request, context), isChange: false)
            var call = AppV1.ListGroupLinksRequest()
            call.groupID = try context.parameters.require("id")
            let links = try await methods.groups.listGroupLinks(call, options: methods.groupOptions(user)).links
            return .json { json in json.add("links", links) { $0.write(to: &$1) } }
        }
    }
}

extension OpenAPI.Answer {
    fileprivate static let groupLinks = shared(
        "The links.",
        .object([.required("links", .list(of: .groupLink, maxItems: 100))]).named("GroupLinks")
    )
}
