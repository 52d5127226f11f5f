extension OpenAPI {
    /// What the paths refer to.
    static let components = """
            "parameters": {
              "groupID": {
                "name": "id", "in": "path", "required": true, "schema": {"type": "string", "format": "uuid"}
              },
              "idempotencyKey": {
                "name": "Idempotency-Key", "in": "header", "schema": {"type": "string", "maxLength": 38},
                "description": "A UUID that the client chose for what it wants done once; remembered for a day."
              },
              "pageSize": {
                "name": "page_size", "in": "query",
                "schema": {"type": "integer", "minimum": 1, "maximum": 100, "default": 50}
              },
              "pageToken": {
                "name": "page_token", "in": "query", "schema": {"type": "string"},
                "description": "next_page_token of the page before."
              }
            },
            "requestBodies": {
        \(requestBodies)
            },
            "responses": {
        \(responses)
            },
            "schemas": {
        \(requestSchemas),
        \(answerSchemas)
            }
        """

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
        (answers(
            type: "application/json",
            [
                ("Session", "Session", "The session's tokens, and what the profile still lacks."),
                ("Profile", "Profile", "The whole profile."),
                ("Group", "Group", "The group."),
                ("Groups", "Groups", "A page of groups."),
                ("Member", "Member", "The member."),
                ("Members", "Members", "A page of members."),
                ("Readiness", "Readiness", "What answers and what does not."),
            ]
        )
        + answers(
            type: "application/problem+json",
            [
                ("Problem", "Problem", "What went wrong."),
                ("Refused", "Problem", "The token or the credentials were refused; the code says why."),
                ("Conflict", "Problem", "Another user has this, for example PHONE_TAKEN."),
                ("FieldsAtFault", "Problem", "Fields that break a rule, each named."),
            ]
        ))
        .joined(separator: ",\n")

    private static func answers(
        type: String,
        _ entries: [(name: String, schema: String, description: String)]
    ) -> [String] {
        entries.map { entry in
            """
                  "\(entry.name)": {
                    "description": "\(entry.description)",
                    "content": {"\(type)": {"schema": {"$ref": "#/components/schemas/\(entry.schema)"}}}
                  }
            """
        }
    }
}
