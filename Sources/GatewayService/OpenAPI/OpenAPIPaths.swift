extension OpenAPI {
    /// Opening, continuing and ending sessions.
    static let authenticationPaths = """
            "/auth/apple": {
              "post": {
                "operationId": "signInWithApple", "tags": ["auth"],
                "summary": "Opens a session for what Sign in with Apple gave the app",
                "requestBody": {"$ref": "#/components/requestBodies/AppleSignIn"},
                "responses": {
                  "200": {"$ref": "#/components/responses/Session"},
                  \(problems(ofBody + ofServices + [401, 422]))
                }
              }
            },
            "/auth/google": {
              "post": {
                "operationId": "signInWithGoogle", "tags": ["auth"],
                "summary": "Opens a session for what Google gave the app",
                "requestBody": {"$ref": "#/components/requestBodies/GoogleSignIn"},
                "responses": {
                  "200": {"$ref": "#/components/responses/Session"},
                  \(problems(ofBody + ofServices + [401, 422]))
                }
              }
            },
            "/auth/refresh": {
              "post": {
                "operationId": "refreshSession", "tags": ["auth"],
                "summary": "Exchanges a refresh token for its successor and a new access token",
                "requestBody": {"$ref": "#/components/requestBodies/RefreshToken"},
                "responses": {
                  "200": {"$ref": "#/components/responses/Session"},
                  \(problems(ofBody + ofServices + [401]))
                }
              }
            },
            "/auth/sign-out": {
              "post": {
                "operationId": "signOut", "tags": ["auth"],
                "summary": "Ends the session of the bearer token, or of the refresh token in the body",
                "security": [{"bearer": []}, {}],
                "requestBody": {
                  "content": {"application/json": {"schema": {"$ref": "#/components/schemas/SignOut"}}}
                },
                "responses": {
                  "204": {"description": "The session is over, or never was.", "headers": {\(commonHeaders)}},
                  \(problems(ofBody + ofServices + [401]))
                }
              }
            }
        """

    /// The user's own profile.
    static let profilePaths = """
            "/me": {
              "get": {
                "operationId": "getMe", "tags": ["profile"], "summary": "The user's profile",
                "security": [{"bearer": []}],
                "responses": {
                  "200": {"$ref": "#/components/responses/Profile"},
                  \(problems(ofServices + [401]))
                }
              },
              "patch": {
                "operationId": "updateMe", "tags": ["profile"],
                "summary": "Changes the fields that are present, all or none",
                "security": [{"bearer": []}],
                "requestBody": {"$ref": "#/components/requestBodies/ProfileChange"},
                "responses": {
                  "200": {"$ref": "#/components/responses/Profile"},
                  \(problems(ofBody + ofServices + [401, 409, 422]))
                }
              }
            }
        """

    /// Groups and their members.
    static let groupPaths = """
            "/groups": {
              "get": {
                "operationId": "listGroups", "tags": ["groups"], "summary": "A page of the user's groups, newest first",
                "security": [{"bearer": []}],
                "parameters": [
                  {"$ref": "#/components/parameters/pageSize"}, {"$ref": "#/components/parameters/groupsPageToken"}
                ],
                "responses": {
                  "200": {"$ref": "#/components/responses/Groups"},
                  \(problems(ofServices + [401, 422]))
                }
              },
              "post": {
                "operationId": "createGroup", "tags": ["groups"],
                "summary": "Creates a group with the user as its first member",
                "description": "With an Idempotency-Key it may be asked again after any failure: one group is created. A key that came with another name before is refused with 422 and IDEMPOTENCY_KEY_REUSED, one that is no UUID with 400 and IDEMPOTENCY_KEY_INVALID. Without a key, OUTCOME_UNKNOWN (500 or 504) says that a group may have been created.",
                "security": [{"bearer": []}],
                "parameters": [{"$ref": "#/components/parameters/idempotencyKey"}],
                "requestBody": {"$ref": "#/components/requestBodies/NewGroup"},
                "responses": {
                  "201": {"$ref": "#/components/responses/Group"},
                  \(problems(ofBody + ofServices + [401, 409, 422]))
                }
              }
            },
            "/groups/{id}/members": {
              "parameters": [{"$ref": "#/components/parameters/groupID"}],
              "get": {
                "operationId": "listMembers", "tags": ["groups"],
                "summary": "A page of a group's members and pending members, oldest first",
                "security": [{"bearer": []}],
                "parameters": [
                  {"$ref": "#/components/parameters/pageSize"}, {"$ref": "#/components/parameters/membersPageToken"}
                ],
                "responses": {
                  "200": {"$ref": "#/components/responses/Members"},
                  \(problems(ofServices + [401, 403, 404, 422]))
                }
              },
              "post": {
                "operationId": "addMember", "tags": ["groups"],
                "summary": "Adds a person by phone number, pending until a user has it",
                "description": "Adding a number that is in the group already answers the member there is.",
                "security": [{"bearer": []}],
                "requestBody": {"$ref": "#/components/requestBodies/NewMember"},
                "responses": {
                  "201": {"$ref": "#/components/responses/Member"},
                  \(problems(ofBody + ofServices + [401, 403, 404, 409, 422]))
                }
              }
            }
        """

    /// Keys, health and this description.
    static let systemPaths = """
            "/.well-known/jwks.json": {
              "get": {
                "operationId": "getKeySet", "tags": ["system"], "summary": "The public keys of our tokens (RFC 7517)",
                "responses": {
                  "200": {
                    "description": "The key set.",
                    "headers": {\(commonHeaders)},
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/KeySet"}}}
                  },
                  \(problems(ofServices))
                }
              }
            },
            "/healthz": {
              "get": {
                "operationId": "getLiveness", "tags": ["system"], "summary": "Whether the gateway is alive",
                "responses": {
                  "200": {
                    "description": "It is.",
                    "headers": {\(commonHeaders)},
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Liveness"}}}
                  },
                  \(problems())
                }
              }
            },
            "/readyz": {
              "get": {
                "operationId": "getReadiness", "tags": ["system"],
                "summary": "Whether every service and its database answer",
                "responses": {
                  "200": {"$ref": "#/components/responses/Readiness"},
                  "503": {"$ref": "#/components/responses/Readiness"},
                  \(problems())
                }
              }
            },
            "/openapi.json": {
              "get": {
                "operationId": "getDescription", "tags": ["system"], "summary": "This description",
                "responses": {
                  "200": {
                    "description": "OpenAPI 3.1",
                    "headers": {\(commonHeaders)},
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Description"}}}
                  },
                  \(problems())
                }
              }
            }
        """
}
