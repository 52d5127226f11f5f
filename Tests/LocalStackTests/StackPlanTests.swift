import JOSE
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
        for (name, folder) in [("IDENTITY", "keys"), ("PROFILE", "profile-keys"), ("INVITES", "invites-keys")] {
            #expect(environment["VESTIBULE_\(name)_KEYS_FOLDER"] == "/data/secrets/\(folder)", "each has its own keys")
        }
        let migration = try #require(try plan([:]).programs.first { $0.name == "profile" }).migration
        #expect(migration.environment["VESTIBULE_PROFILE_DATABASE_OWNER"] == "vestibule_profile_owner")
        #expect(
            migration.environment["VESTIBULE_PROFILE_DATABASE_OWNER_PASSWORD_FILE"]
                == "/data/secrets/profile-database-owner-password"
        )
        // Identity has no defaults for these.
        #expect(environment["VESTIBULE_IDENTITY_ISSUER"] == "http://127.0.0.1:8080")
        #expect(environment["VESTIBULE_IDENTITY_PROVIDERS_FILE"] == "/data/providers.json")
        #expect(environment["VESTIBULE_IDENTITY_SIMULATED_PROVIDERS"] == "true")
        #expect(environment["VESTIBULE_SIMULATOR_CLIENTS_FILE"] == "/data/simulator-clients.json")
        // The providers file has all of these settings.
        for name in ["APPLE_AUDIENCES", "APPLE_KEYS_URL", "GOOGLE_AUDIENCES", "GOOGLE_KEYS_URL"] {
            #expect(environment["VESTIBULE_IDENTITY_\(name)"] == nil)
        }
        #expect(environment["VESTIBULE_REFLECTION"] == "true")
        #expect(environment["VESTIBULE_GATEWAY_METHODS_PAGE"] == "true")
        // The page signs in by the simulator, which lets no other page in.
        #expect(environment["VESTIBULE_GATEWAY_SIMULATOR_URL"] == "http://127.0.0.1:7080")
        #expect(environment["VESTIBULE_SIMULATOR_ORIGINS"] == "http://127.0.0.1:8080,http://localhost:8080")
        #expect(environment["VESTIBULE_CONFIG"]?.hasSuffix("/stack.env") == true)
    }

    @Test func `Given settings are kept, but the private database can't be replaced`() throws {
        let environment = try plan([
            "VESTIBULE_IDENTITY_ISSUER": "https://example.com", "VESTIBULE_LOG_FORMAT": "json",
            "VESTIBULE_DATABASE_HOST": "production", "VESTIBULE_IDENTITY_DATABASE_PASSWORD": "theirs",
        ]).environment(socketDirectory: "/socket", port: 5432)
        #expect(environment["VESTIBULE_IDENTITY_ISSUER"] == "https://example.com")
        #expect(environment["VESTIBULE_LOG_FORMAT"] == "json")
        #expect(environment["VESTIBULE_DATABASE_HOST"] == "/socket")
        #expect(environment["VESTIBULE_IDENTITY_DATABASE_PASSWORD"] == "")
    }

    @Test func `A moved port reaches its callers, and the greeting`() throws {
        let plan = try plan([
            "VESTIBULE_PROFILE_LISTEN": "0.0.0.0:9002", "VESTIBULE_SIMULATOR_LISTEN": "127.0.0.1:9080",
            "VESTIBULE_GATEWAY_LISTEN": "127.0.0.1:9000",
        ])
        let environment = plan.environment(socketDirectory: "/socket", port: 5432)
        #expect(environment["VESTIBULE_PROFILE_ADDRESS"] == "127.0.0.1:9002")
        let providers = try #require(plan.providers.file["providers"]?.array).compactMap(\.object)
        #expect(providers.map { $0["name"] } == ["apple", "google", "facebook"])
        #expect(providers[0]["token_url"] == "http://127.0.0.1:9080/apple/auth/token")
        #expect(providers[1]["keys_url"] == "http://127.0.0.1:9080/google/oauth2/v3/certs")
        #expect(providers[2]["debug_token_url"] == "http://127.0.0.1:9080/facebook/debug_token")
        #expect(environment["VESTIBULE_GATEWAY_PUBLIC_URL"] == "http://127.0.0.1:9000")
        #expect(plan.programs.first { $0.name == "profile" }?.address.port == 9002)
        #expect(plan.greeting.contains("curl -sS http://127.0.0.1:9000/me"))
        #expect(plan.greeting.contains("curl -sS http://127.0.0.1:9080/control/apple/sign-in"))
    }

    @Test func `Apps of each kind are set up, and dialects, origins and app URLs are on`() throws {
        let plan = try plan([:])
        let environment = plan.environment(socketDirectory: "/socket", port: 5432)
        #expect(environment["VESTIBULE_GATEWAY_DIALECTS"] == "single-token,wordpress,supabase")
        #expect(
            environment["VESTIBULE_GATEWAY_ORIGINS"]
                == "http://localhost:3000,http://127.0.0.1:3000,http://localhost:5173,http://127.0.0.1:5173"
        )
        #expect(environment["VESTIBULE_IDENTITY_NAMES_AUDIENCES"] == "true")
        #expect(environment["VESTIBULE_IDENTITY_GUESTS"] == "true")
        #expect(environment["VESTIBULE_GATEWAY_APP_URLS"] == "awscognito://apple-callback,vestibule-demo://callback")
        #expect(
            environment["VESTIBULE_GATEWAY_APPLE_WITHOUT_STATE"] == "com.example.services=awscognito://apple-callback"
        )
        #expect(environment["VESTIBULE_GATEWAY_SUPABASE_SERVICE_KEY_FILE"] == "/data/secrets/supabase-service-key")
        #expect(environment["VESTIBULE_IDENTITY_UNPROVEN_LOGINS"] == nil, "sign-ins without proof stay off")
        let providers = try #require(plan.providers.file["providers"]?.array).compactMap(\.object)
        let audiences = providers.flatMap { $0["audiences"]?.array?.compactMap(\.object) ?? [] }
        let rules = audiences.map { audience in
            ["id", "kind", "match", "nonce", "without_nonce"].map { audience[$0]?.string ?? "" }.joined(separator: " ")
        }
        #expect(
            rules == [
                "com.example.app native sha256 required refuse", "com.example.bare native sha256 optional fresh",
                "com.example.services services either optional fresh", "com.example.debug native sha256 optional code",
                "example.apps.googleusercontent.com web either optional fresh",
                "ios.example.apps.googleusercontent.com native either unknown fresh",
                "plain.example.apps.googleusercontent.com native either optional fresh", "1234567890    ",
            ]
        )
        let withoutIDToken = audiences.filter { $0["id_token"] == false }.compactMap { $0["id"]?.string }
        #expect(withoutIDToken == ["plain.example.apps.googleusercontent.com"])
        let keys = audiences.compactMap { $0["apple_key"]?.object?["private_key_file"]?.string }
        #expect(keys == [1, 1, 1, 2].map { "secrets/apple-key-\($0).p8" })
        #expect(plan.greeting.contains("Supabase's service key: /data/secrets/supabase-service-key"))
    }

    @Test func `A developer's own audiences, file, dialects and app URLs are used`() throws {
        let apple = try plan(["VESTIBULE_IDENTITY_APPLE_AUDIENCES": "mine"])
        let environment = apple.environment(socketDirectory: "/socket", port: 5432)
        #expect(environment["VESTIBULE_IDENTITY_APPLE_AUDIENCES"] == "mine")
        #expect(environment["VESTIBULE_IDENTITY_APPLE_KEYS_URL"] == "http://127.0.0.1:7080/apple/auth/keys")
        let names = apple.providers.file["providers"]?.array?.map { $0.object?["name"] }
        #expect(names == ["google", "facebook"])

        let own = try plan([
            "VESTIBULE_IDENTITY_PROVIDERS_FILE": "/mine.json", "VESTIBULE_GATEWAY_DIALECTS": "wordpress",
            "VESTIBULE_GATEWAY_APP_URLS": "mine://back", "VESTIBULE_IDENTITY_KEYS_BY_HTTP": "false",
        ])
        let theirs = own.environment(socketDirectory: "/socket", port: 5432)
        #expect(theirs["VESTIBULE_IDENTITY_PROVIDERS_FILE"] == "/mine.json")
        #expect(theirs["VESTIBULE_GATEWAY_DIALECTS"] == "wordpress")
        #expect(theirs["VESTIBULE_GATEWAY_APP_URLS"] == "mine://back")
        #expect(theirs["VESTIBULE_GATEWAY_APPLE_WITHOUT_STATE"] == nil)
        #expect(theirs["VESTIBULE_IDENTITY_SIMULATED_PROVIDERS"] == nil)
        #expect(!own.greeting.contains("Supabase") && !own.greeting.contains("Providers:"))
    }

    @Test func `New groups are open unless the developer chooses otherwise, and the greeting says so`() throws {
        let name = "VESTIBULE_INVITES_OPENNESS"
        let plan = try plan([:])
        #expect(plan.environment(socketDirectory: "/socket", port: 5432)[name] == "open")
        #expect(plan.greeting.contains("New groups: open (\(name))"))
        for given in [name, "VESTIBULE_INVITES_GROUP_OPENNESS"] {
            let own = try self.plan([given: "consent"])
            let environment = own.environment(socketDirectory: "/socket", port: 5432)
            #expect(environment[given] == "consent")
            // Two names of one key with different values would be an error.
            #expect(given == name || environment[name] == nil)
            #expect(!own.greeting.contains("New groups"))
        }
    }

    @Test func `The greeting holds three commands, each on a line of its own`() throws {
        let commands = try plan([:]).greeting.split(separator: "\n").filter { $0.contains("curl ") }
        #expect(commands.count == 3)
    }
}
