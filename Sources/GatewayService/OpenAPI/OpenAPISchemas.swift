extension OpenAPI {
    // Lengths count code points, and the rules characters as people count them, of which one may be several code points:
    // so these are the lengths that no name or number can have.
    private static let displayName = """
        "type": "string", "minLength": 2, "maxLength": 4000, "description": "2 to 50 characters as people count them."
        """
    private static let phoneNumber = """
        "type": "string", "minLength": 4, "maxLength": \(phoneNumberBytesMax), "description": "In any notation of the configured region."
        """
    private static let phoneNumberBytesMax = 128

    /// What clients send. Members that are not named here are passed over.
    static let requestSchemas = """
              "AppleSignIn": {
                "type": "object", "required": ["identity_token", "nonce"],
                "properties": {
                  "identity_token": {"type": "string", "minLength": 1, "description": "Apple's ID token."},
                  "nonce": {
                    "type": "string", "minLength": 1, "maxLength": 2048,
                    "description": "The raw nonce; Apple was given its SHA-256 in hex."
                  },
                  "authorization_code": {"type": ["string", "null"]},
                  "full_name": {"type": ["string", "null"], "description": "Apple tells it the first time only."},
                  "email": {"type": ["string", "null"]}
                }
              },
              "GoogleSignIn": {
                "type": "object", "required": ["id_token"],
                "properties": {
                  "id_token": {"type": "string", "minLength": 1, "description": "Google's ID token."},
                  "nonce": {"type": ["string", "null"], "maxLength": 2048},
                  "full_name": {"type": ["string", "null"]},
                  "email": {"type": ["string", "null"]}
                }
              },
              "RefreshToken": {
                "type": "object", "required": ["refresh_token"],
                "properties": {"refresh_token": {"type": "string", "minLength": 1, "maxLength": 512}}
              },
              "SignOut": {
                "type": "object",
                "description": "Without a refresh token it is the bearer token's session that ends. A text that is no token is one whose session is over.",
                "properties": {"refresh_token": {"type": "string", "minLength": 1}}
              },
              "ProfileChange": {
                "type": "object",
                "properties": {
                  "display_name": {\(displayName)},
                  "phone_number": {\(phoneNumber)},
                  "username": {
                    "type": ["string", "null"], "maxLength": 20, "pattern": "^([A-Za-z0-9_]{3,20})?$",
                    "description": "3 to 20 letters, digits or underscores; null or an empty text removes it."
                  }
                }
              },
              "NewGroup": {
                "type": "object", "required": ["name"],
                "properties": {
                  "name": {
                    "type": "string", "minLength": 1, "maxLength": 6400,
                    "description": "1 to 80 characters as people count them, of which one may be several code points."
                  }
                }
              },
              "NewMember": {
                "type": "object", "required": ["phone_number", "display_name"],
                "properties": {
                  "phone_number": {\(phoneNumber)},
                  "display_name": {\(displayName)}
                }
              }
        """

    private static let e164 = #""type": ["string", "null"], "pattern": "^[+][1-9][0-9]{3,14}$""#

    /// What clients are answered. More members may be added in time; a client passes over those that it does not know.
    static let answerSchemas = """
              "Session": {
                "type": "object",
                "required": [
                  "access_token", "refresh_token", "token_type", "expires_in", "id_token", "user_id", "session_id",
                  "is_new_user", "missing_fields", "suggested_display_name"
                ],
                "properties": {
                  "access_token": {"type": "string", "minLength": 1, "description": "A JWT (RFC 9068) for the Authorization header."},
                  "refresh_token": {"type": "string", "minLength": 1, "maxLength": 512, "description": "Can be exchanged once."},
                  "token_type": {"const": "Bearer"},
                  "expires_in": {"type": "integer", "minimum": 1, "description": "Seconds until the access token expires."},
                  "id_token": {"type": "string", "minLength": 1},
                  "user_id": {\(uuid)},
                  "session_id": {\(uuid)},
                  "is_new_user": {"type": "boolean"},
                  "missing_fields": {
                    "type": ["array", "null"], "items": {"enum": ["display_name", "phone_number"]},
                    "description": "What to ask the user for, in this order; null if not known now: ask /me."
                  },
                  "suggested_display_name": {"type": ["string", "null"], "minLength": 1}
                }
              },
              "Profile": {
                "type": "object",
                "required": ["user_id", "display_name", "username", "phone_number", "missing_fields", "updated_at"],
                "properties": {
                  "user_id": {\(uuid)},
                  "display_name": {"type": ["string", "null"], "minLength": 1},
                  "username": {"type": ["string", "null"], "minLength": 1, "maxLength": 20, "pattern": "^[A-Za-z0-9_]+$"},
                  "phone_number": {\(e164), "description": "E.164."},
                  "missing_fields": {"type": "array", "items": {"enum": ["display_name", "phone_number"]}},
                  "updated_at": {"type": ["string", "null"], "format": "date-time"}
                }
              },
              "Group": {
                "type": "object", "required": ["id", "name", "owner_user_id", "created_at"],
                "properties": {
                  "id": {\(uuid)},
                  "name": {"type": "string", "minLength": 1},
                  "owner_user_id": {\(uuid)},
                  "created_at": {"type": "string", "format": "date-time"}
                }
              },
              "Groups": {
                "type": "object", "required": ["groups", "next_page_token"],
                "properties": {
                  "groups": {"type": "array", "maxItems": 100, "items": {"$ref": "#/components/schemas/Group"}},
                  "next_page_token": {"type": ["string", "null"], "minLength": 34, "maxLength": 34, "description": "Null on the last page."}
                }
              },
              "Member": {
                "type": "object",
                "required": ["id", "state", "user_id", "phone_number", "display_name", "added_at"],
                "properties": {
                  "id": {\(uuid)},
                  "state": {"enum": ["member", "pending"]},
                  "user_id": {"type": ["string", "null"], "format": "uuid", "description": "Null while pending."},
                  "phone_number": {\(e164), "description": "E.164; null for the creator."},
                  "display_name": {"type": ["string", "null"], "minLength": 1},
                  "added_at": {"type": "string", "format": "date-time"}
                }
              },
              "Members": {
                "type": "object", "required": ["members", "next_page_token"],
                "properties": {
                  "members": {"type": "array", "maxItems": 100, "items": {"$ref": "#/components/schemas/Member"}},
                  "next_page_token": {"type": ["string", "null"], "minLength": 34, "maxLength": 34, "description": "Null on the last page."}
                }
              },
              "KeySet": {
                "type": "object", "required": ["keys"],
                "properties": {
                  "keys": {
                    "type": "array", "minItems": 1,
                    "items": {"type": "object", "required": ["kty", "kid"], "description": "RFC 7517."}
                  }
                }
              },
              "Liveness": {"type": "object", "required": ["status"], "properties": {"status": {"const": "ok"}}},
              "Description": {
                "type": "object", "required": ["openapi", "info", "paths"],
                "properties": {"openapi": {"type": "string", "pattern": "^3[.]1[.]"}}
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
                  "type": {"const": "about:blank"},
                  "title": {"type": "string", "minLength": 1, "description": "The status in words."},
                  "status": {"type": "integer", "minimum": 400, "maximum": 599},
                  "detail": {"type": "string", "minLength": 1, "description": "For people."},
                  "code": {"type": "string", "pattern": "^[A-Z][A-Z0-9_]*$", "description": "For programs, stable."},
                  "fields": {
                    "type": "array", "minItems": 1,
                    "items": {
                      "type": "object", "required": ["field", "code", "detail"],
                      "properties": {
                        "field": {"type": "string", "minLength": 1}, "code": {"type": "string", "minLength": 1},
                        "detail": {"type": "string", "minLength": 1}
                      }
                    }
                  }
                }
              }
        """
}
