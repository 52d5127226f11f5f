import ServiceKit
import Testing

@testable import LocalStack

struct StackPlanTests {
    private func plan(_ environment: [String: String]) throws -> StackPlan {
        let configuration = try Configuration(keys: StackKeys.all, program: "run", environment: environment)
        return try StackPlan(
            configuration: configuration,
            configurationPath: "stack.env",
            environment: environment,
            folder: StackFolder(path: "/data")
        )
    }

    @Test func `Programs get the private database and the simulator's keys, each service its own role`() throws {
        let environment = try plan(["HOME": "/h"]).environment(socketDirectory: "/socket", port: 5432)
        #expect(environment["HOME"] == "/h")
        #expect(environment["VESTIBULE_DATABASE_HOST"] == "/socket")
        #expect(environment["VESTIBULE_PROFILE_DATABASE_USER"] == "vestibule_profile")
        #expect(environment["VESTIBULE_PROFILE_DATABASE_PASSWORD_FILE"] == "/data/secrets/profile-database-password")
        #expect(environment["VESTIBULE_PROFILE_DATABASE_OWNER"] == "", "that is for migrations alone")
        let migration = try #require(try plan([:]).programs.first { $0.name == "profile" }).migration
        #expect(migration.environment["VESTIBULE_PROFILE_DATABASE_OWNER"] == "vestibule_profile_owner")
        #expect(
            migration.environment["VESTIBULE_PROFILE_DATABASE_OWNER_PASSWORD_FILE"]
                == "/data/secrets/profile-database-owner-password"
        )
        #expect(environment["VESTIBULE_IDENTITY_APPLE_KEYS_URL"] == "http://127.0.0.1:7080/apple/auth/keys")
        // Identity has no default for these.
        #expect(environment["VESTIBULE_IDENTITY_ISSUER"] == "http://127.0.0.1:8080")
        #expect(environment["VESTIBULE_IDENTITY_APPLE_AUDIENCES"] == "com.example.app")
        #expect(environment["VESTIBULE_IDENTITY_GOOGLE_AUDIENCES"] == "example.apps.googleusercontent.com")
        #expect(environment["VESTIBULE_IDENTITY_KEYS_BY_HTTP"] == "true")
        #expect(environment["VESTIBULE_REFLECTION"] == "true")
        #expect(environment["VESTIBULE_CONFIG"]?.hasSuffix("/stack.env") == true)
    }

    @Test func `What was given is kept, but the private database can't be left`() throws {
        let environment = try plan([
            "VESTIBULE_IDENTITY_ISSUER": "https://example.com", "VESTIBULE_LOG_FORMAT": "json",
            "VESTIBULE_DATABASE_HOST": "production", "VESTIBULE_IDENTITY_DATABASE_PASSWORD": "theirs",
        ]).environment(socketDirectory: "/socket", port: 5432)
        #expect(environment["VESTIBULE_IDENTITY_ISSUER"] == "https://example.com")
        #expect(environment["VESTIBULE_LOG_FORMAT"] == "json")
        #expect(environment["VESTIBULE_DATABASE_HOST"] == "/socket")
        #expect(environment["VESTIBULE_IDENTITY_DATABASE_PASSWORD"] == "")
    }

    @Test func `A moved port reaches those who call it, and the greeting`() throws {
        let plan = try plan([
            "VESTIBULE_PROFILE_LISTEN": "0.0.0.0:9002", "VESTIBULE_SIMULATOR_LISTEN": "127.0.0.1:9080",
            "VESTIBULE_GATEWAY_LISTEN": "127.0.0.1:9000",
        ])
        let environment = plan.environment(socketDirectory: "/socket", port: 5432)
        #expect(environment["VESTIBULE_PROFILE_ADDRESS"] == "127.0.0.1:9002")
        #expect(environment["VESTIBULE_IDENTITY_GOOGLE_KEYS_URL"] == "http://127.0.0.1:9080/google/oauth2/v3/certs")
        #expect(plan.programs.first { $0.name == "profile" }?.address.port == 9002)
        #expect(plan.greeting.contains("curl -sS http://127.0.0.1:9000/me"))
        #expect(plan.greeting.contains("curl -sS http://127.0.0.1:9080/control/apple/sign-in"))
    }

    @Test func `The greeting holds three commands, each on a line of its own`() throws {
        let commands = try plan([:]).greeting.split(separator: "\n").filter { $0.contains("curl ") }
        #expect(commands.count == 3)
    }
}
