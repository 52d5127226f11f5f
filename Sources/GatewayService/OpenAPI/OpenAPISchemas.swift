extension OpenAPI {
    /// What clients send.
    static let requestSchemas = """
              "AppleSignIn": {
                "type": "object", "required": ["identity_token", "nonce"],
                "properties": {
                  "identity_token": {"type": "string", "description": "Apple's ID token."},
                  "nonce": {"type": "string", "description": "The raw nonce; Apple was given its SHA-256 in hex."},
                  "authorization_code": {"type": ["string", "null"]},
                  "full_name": {"type": ["string", "null"], "description": "Apple tells it the first time only."},
                  "email": {"type": ["string", "null"]}
                }
              },
              "GoogleSignIn": {
                "type": "object", "required": ["id_token"],
                "properties": {
                  "id_token": {"type": "string", "description": "Google's ID token."},
                  "nonce": {"type": ["string", "null"]},
                  "full_name": {"type": ["string", "null"]},
                  "email": {"type": ["string", "null"]}
                }
              },
              "RefreshToken": {
                "type": "object", "required": ["refresh_token"],
                "properties": {"refresh_token": {"type": "string"}}
              },
              "ProfileChange": {
                "type": "object",
                "properties": {
                  "display_name": {"type": "string", "description": "2 to 50 characters as people count them."},
                  "phone_number": {"type": "string", "description": "In any notation of the configured region."},
                  "username": {
                    "type": ["string", "null"],
                    "description": "3 to 20 letters, digits or underscores; null removes it."
                  }
                }
              },
              "NewGroup": {
                "type": "object", "required": ["name"],
                "properties": {"name": {"type": "string", "description": "1 to 80 characters as people count them."}}
              },
              "NewMember": {
                "type": "object", "required": ["phone_number", "display_name"],
                "properties": {
                  "phone_number": {"type": "string", "description": "In any notation of the configured region."},
                  "display_name": {"type": "string", "description": "2 to 50 characters as people count them."}
                }
              }
        """

    /// What clients are answered.
    static let answerSchemas = """
              "Session": {
                "type": "object",
                "required": [
                  "access_token", "refresh_token", "token_type", "expires_in", "id_token", "user_id", "session_id",
                  "is_new_user", "missing_fields", "suggested_display_name"
                ],
                "properties": {
                  "access_token": {"type": "string", "description": "A JWT (RFC 9068) for the Authorization header."},
                  "refresh_token": {"type": "string", "description": "Can be exchanged once."},
                  "token_type": {"const": "Bearer"},
                  "expires_in": {"type": "integer", "description": "Seconds until the access token expires."},
                  "id_token": {"type": "string"},
                  "user_id": {"type": "string", "format": "uuid"},
                  "session_id": {"type": "string", "format": "uuid"},
                  "is_new_user": {"type": "boolean"},
                  "missing_fields": {
                    "type": ["array", "null"], "items": {"enum": ["display_name", "phone_number"]},
                    "description": "What to ask the user for, in this order; null if not known now: ask /me."
                  },
                  "suggested_display_name": {"type": ["string", "null"]}
                }
              },
              "Profile": {
                "type": "object",
                "required": ["user_id", "display_name", "username", "phone_number", "missing_fields", "updated_at"],
                "properties": {
                  "user_id": {"type": "string", "format": "uuid"},
                  "display_name": {"type": ["string", "null"]},
                  "username": {"type": ["string", "null"]},
                  "phone_number": {"type": ["string", "null"], "description": "E.164."},
                  "missing_fields": {"type": "array", "items": {"enum": ["display_name", "phone_number"]}},
                  "updated_at": {"type": ["string", "null"], "format": "date-time"}
                }
              },
              "Group": {
                "type": "object", "required": ["id", "name", "owner_user_id", "created_at"],
                "properties": {
                  "id": {"type": "string", "format": "uuid"},
                  "name": {"type": "string"},
                  "owner_user_id": {"type": "string", "format": "uuid"},
                  "created_at": {"type": "string", "format": "date-time"}
                }
              },
              "Groups": {
                "type": "object", "required": ["groups", "next_page_token"],
                "properties": {
                  "groups": {"type": "array", "items": {"$ref": "#/components/schemas/Group"}},
                  "next_page_token": {"type": ["string", "null"], "description": "Null on the last page."}
                }
              },
              "Member": {
                "type": "object",
                "required": ["id", "state", "user_id", "phone_number", "display_name", "added_at"],
                "properties": {
                  "id": {"type": "string", "format": "uuid"},
                  "state": {"enum": ["member", "pending"]},
                  "user_id": {"type": ["string", "null"], "format": "uuid", "description": "Null while pending."},
                  "phone_number": {"type": ["string", "null"], "description": "Null for the creator."},
                  "display_name": {"type": ["string", "null"]},
                  "added_at": {"type": "string", "format": "date-time"}
                }
              },
              "Members": {
                "type": "object", "required": ["members", "next_page_token"],
                "properties": {
                  "members": {"type": "array", "items": {"$ref": "#/components/schemas/Member"}},
                  "next_page_token": {"type": ["string", "null"], "description": "Null on the last page."}
                }
              },
              "Readiness": {
                "type": "object", "required": ["status", "services"],
                "properties": {
                  "status": {"enum": ["ready", "not ready"]},
                  "services": {"type": "object", "additionalProperties": {"enum": ["ok", "failed"]}}
                }
              },
              "Problem": {
                "type": "object", "required": ["type", "title", "status", "detail", "code"],
                "properties": {
                  "type": {"type": "string"},
                  "title": {"type": "string"},
                  "status": {"type": "integer"},
                  "detail": {"type": "string", "description": "For people."},
                  "code": {"type": "string", "description": "For programs, stable."},
                  "fields": {
                    "type": "array",
                    "items": {
                      "type": "object", "required": ["field", "code", "detail"],
                      "properties": {
                        "field": {"type": "string"}, "code": {"type": "string"}, "detail": {"type": "string"}
                      }
                    }
                  }
                }
              }
        """
}
