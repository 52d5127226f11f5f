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
                  "401": {"$ref": "#/components/responses/Refused"},
                  "default": {"$ref": "#/components/responses/Problem"}
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
                  "401": {"$ref": "#/components/responses/Refused"},
                  "default": {"$ref": "#/components/responses/Problem"}
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
                  "401": {"$ref": "#/components/responses/Refused"},
                  "default": {"$ref": "#/components/responses/Problem"}
                }
              }
            },
            "/auth/sign-out": {
              "post": {
                "operationId": "signOut", "tags": ["auth"],
                "summary": "Ends the session of the bearer token, or of the refresh token in the body",
                "security": [{"bearer": []}, {}],
                "requestBody": {
                  "content": {"application/json": {"schema": {"$ref": "#/components/schemas/RefreshToken"}}}
                },
                "responses": {
                  "204": {"description": "The session is over, or never was."},
                  "401": {"$ref": "#/components/responses/Refused"},
                  "default": {"$ref": "#/components/responses/Problem"}
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
                  "401": {"$ref": "#/components/responses/Refused"},
                  "default": {"$ref": "#/components/responses/Problem"}
                }
              },
              "patch": {
                "operationId": "updateMe", "tags": ["profile"],
                "summary": "Changes the fields that are present, all or none",
                "security": [{"bearer": []}],
                "requestBody": {"$ref": "#/components/requestBodies/ProfileChange"},
                "responses": {
                  "200": {"$ref": "#/components/responses/Profile"},
                  "401": {"$ref": "#/components/responses/Refused"},
                  "409": {"$ref": "#/components/responses/Conflict"},
                  "422": {"$ref": "#/components/responses/FieldsAtFault"},
                  "default": {"$ref": "#/components/responses/Problem"}
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
                  {"$ref": "#/components/parameters/pageSize"}, {"$ref": "#/components/parameters/pageToken"}
                ],
                "responses": {
                  "200": {"$ref": "#/components/responses/Groups"},
                  "401": {"$ref": "#/components/responses/Refused"},
                  "default": {"$ref": "#/components/responses/Problem"}
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
                  "401": {"$ref": "#/components/responses/Refused"},
                  "422": {"$ref": "#/components/responses/FieldsAtFault"},
                  "default": {"$ref": "#/components/responses/Problem"}
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
                  {"$ref": "#/components/parameters/pageSize"}, {"$ref": "#/components/parameters/pageToken"}
                ],
                "responses": {
                  "200": {"$ref": "#/components/responses/Members"},
                  "401": {"$ref": "#/components/responses/Refused"},
                  "default": {"$ref": "#/components/responses/Problem"}
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
                  "401": {"$ref": "#/components/responses/Refused"},
                  "422": {"$ref": "#/components/responses/FieldsAtFault"},
                  "default": {"$ref": "#/components/responses/Problem"}
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
                    "description": "The key set.", "content": {"application/json": {"schema": {"type": "object"}}}
                  },
                  "default": {"$ref": "#/components/responses/Problem"}
                }
              }
            },
            "/healthz": {
              "get": {
                "operationId": "getLiveness", "tags": ["system"], "summary": "Whether the gateway is alive",
                "responses": {"200": {"description": "It is."}}
              }
            },
            "/readyz": {
              "get": {
                "operationId": "getReadiness", "tags": ["system"],
                "summary": "Whether every service and its database answer",
                "responses": {
                  "200": {"$ref": "#/components/responses/Readiness"},
                  "503": {"$ref": "#/components/responses/Readiness"}
                }
              }
            },
            "/openapi.json": {
              "get": {
                "operationId": "getDescription", "tags": ["system"], "summary": "This description",
                "responses": {
                  "200": {"description": "OpenAPI 3.1", "content": {"application/json": {"schema": {"type": "object"}}}}
                }
              }
            }
        """
}
