import API
import HTTPJSON
import HTTPTypes
import JOSE

/// `POST /groups/{id}/members/batch`: adds up to 500 people by phone number, each with a result of its own.
enum AddMembersRoute {
    static let operation = OpenAPI.Operation(
        .post,
        "/groups/{id}/members/batch",
        id: "addMembers",
        tag: .groups,
        summary: "Adds up to 500 people by phone number, each with a result of its own",
        description: """
            One who is refused keeps nobody out, and a number that is given twice has the same member twice. The results are in the order of the \
            request. 403 with MEMBER_UNCONFIRMED for a member who is in the group by an unproven number alone.
            """,
        caller: .user,
        parameters: [.groupID],
        body: .required(.newMembers),
        answers: [200: .addedMembers],
        problems: [.forbidden, .notFound, .fieldsAtFault]
    )

    static func endpoint(_ methods: AppMethods) -> Endpoint {
        Endpoint(operation) { request, context in
            let user = try await methods.authentication.user(.route(request, context), isChange: true)
            var call = AppV1.AddMembersRequest()
            call.groupID = try context.parameters.require("id")
            var input = try await context.json(request)
            for var person in input.objects("members") {
                // What is missing or empty is a fault of this person alone, which the service tells.
                var added = AppV1.NewMember()
                added.phoneNumber = person.optionalString("phone_number") ?? ""
                added.displayName = person.optionalString("display_name") ?? ""
                input.adopt(person)
                call.members.append(added)
            }
            try input.finish()
            let results = try await methods.groups.addMembers(call, options: methods.groupOptions(user)).results
            return .json { json in json.add("results", results) { $0.write(to: &$1) } }
        }
    }
}

extension OpenAPI.Schema {
    fileprivate static let newMembers = object([
        .required("members", .list(of: .personToAdd, minItems: 1, maxItems: 500))
    ]).named("NewMembers")

    /// What can't be a number or a name is refused in the person's own result, and so nothing is bounded here.
    private static let personToAdd = object([
        .optional("phone_number", .text("As in NewMember; else the person is refused.", orNull: true)),
        .optional("display_name", .text("As in NewMember; else the person is refused.", orNull: true)),
    ]).named("PersonToAdd")
}

extension OpenAPI.Answer {
    fileprivate static let addedMembers = shared(
        "What came of each person.",
        .object([.required("results", .list(of: .addedMember, maxItems: 500))]).named("AddedMembers")
    )
}
