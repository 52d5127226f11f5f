extension OpenAPI {
    /// What the paths refer to.
    static let components = """
            "parameters": {
              "groupID": {
                "name": "id", "in": "path", "required": true, "schema": {\(uuid)}
              },
              "idempotencyKey": {
                "name": "Idempotency-Key", "in": "header",
                "schema": {\(uuid)}, "example": "8e03978e-40d5-43dd-bc93-6894a57f9324",
                "description": "A UUID that the client chose for what it wants done once; remembered for a day."
              },
              "pageSize": {
                "name": "page_size", "in": "query",
                "schema": {"type": "integer", "minimum": 1, "maximum": 100, "default": 50}
              },
              "groupsPageToken": \(pageToken(list: 1)),
              "membersPageToken": \(pageToken(list: 2))
            },
            "requestBodies": {
        \(requestBodies)
            },
            "headers": {
        \(headers)
            },
            "responses": {
        \(responses)
            },
            "schemas": {
        \(requestSchemas),
        \(answerSchemas)
            }
        """

    /// A UUID as RFC 9562 section 4 writes it.
    static let uuid = #""type": "string", "format": "uuid""#

    private static func pageToken(list: Int) -> String {
        """
        {
                "name": "page_token", "in": "query",
                "schema": {"type": "string", "maxLength": 34, "pattern": "^(\(list)-[0-9a-f]{32})?$"},
                "description": "next_page_token of the page before; none or an empty one for the first."
              }
        """
    }

    private static let requestBodies = [
        "AppleSignIn", "GoogleSignIn", "RefreshToken", "ProfileChange", "NewGroup", "NewMember",
    ]
    .map { name in
        """
              "\(name)": {
                "required": true,
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/\(name)"}}}
              }
        """
    }
    .joined(separator: ",\n")

    private static let responses =
        ([
            ("Session", "The session's tokens, and what the profile still lacks."),
            ("Profile", "The whole profile."),
            ("Group", "The group."),
            ("Groups", "A page of groups."),
            ("Member", "The member."),
            ("Members", "A page of members."),
            ("Readiness", "What answers and what does not."),
        ].map(answer) + problemResponses)
        .joined(separator: ",\n")

    private static func answer(name: String, description: String) -> String {
        """
              "\(name)": {
                "description": "\(description)",
                "headers": {\(commonHeaders)},
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/\(name)"}}}
              }
        """
    }
}
