import LocalPostgres
import Postgres
import ServiceKit
import Testing

@testable import Deployment

@Suite("Database roles")
struct DatabaseRolesTests {
    private func configuration(_ cluster: LocalCluster, database: String, profilePassword: String = "p'2")
        throws -> Configuration
    {
        var values = [
            "VESTIBULE_DATABASE_HOST": cluster.socketDirectory, "VESTIBULE_DATABASE_PORT": "\(cluster.port)",
            "VESTIBULE_DATABASE_NAME": database, "VESTIBULE_ROLES_OWNER": cluster.superuser,
            "VESTIBULE_PROFILE_DATABASE_PASSWORD": profilePassword,
        ]
        for service in ["IDENTITY", "PROFILE", "INVITES"] {
            values["VESTIBULE_\(service)_DATABASE_USER"] = "\(database)_\(service.lowercased())"
            if service != "PROFILE" { values["VESTIBULE_\(service)_DATABASE_PASSWORD"] = "secret" }
        }
        return try .testing(keys: DatabaseRoles.configurationKeys, program: "roles", values)
    }

    private func login(_ cluster: LocalCluster, _ database: String, _ password: String) -> AdministrativeSession {
        AdministrativeSession(
            PostgresConfiguration(
                host: cluster.socketDirectory,
                port: cluster.port,
                user: "\(database)_profile",
                password: password,
                database: database
            )
        )
    }

    @Test("makes database, roles and schemas; several at once and again do no harm")
    func make() async throws {
        let cluster = try SharedTestCluster.cluster()
        let roles = DatabaseRoles(configuration: try configuration(cluster, database: "made"))
        let names = ["made_identity", "made_profile", "made_invites"]
        try await withThrowingTaskGroup(of: [String].self) { group in
            for _ in 0..<4 { group.addTask { try await roles.make() } }
            for try await made in group { #expect(made == names) }
        }
        #expect(try await roles.make() == names)
        let profile = login(cluster, "made", "p'2")
        #expect(try await profile.run("SELECT current_user, current_schema") == [["made_profile", "profile"]])
        try await profile.run("CREATE TABLE mine (n int)")
        await #expect(throws: AdministrativeSession.Failure.self) {
            try await profile.run("CREATE TABLE identity.theirs (n int)")
        }
    }

    @Test("a new password takes the place of the old one")
    func password() async throws {
        let cluster = try SharedTestCluster.cluster()
        for word in ["first", "second"] {
            let roles = try configuration(cluster, database: "changed", profilePassword: word)
            _ = try await DatabaseRoles(configuration: roles).make()
        }
        #expect(try await login(cluster, "changed", "second").run("SELECT 1") == [["1"]])
        await #expect(throws: AdministrativeSession.Failure.self) {
            try await login(cluster, "changed", "first").run("SELECT 1")
        }
    }

    @Test("missing passwords and names that need quotes are refused before anything is opened")
    func faults() async throws {
        let bare = try Configuration.testing(keys: DatabaseRoles.configurationKeys, program: "roles")
        let faults = await #expect(throws: ConfigurationFaults.self) {
            _ = try await DatabaseRoles(configuration: bare).make()
        }
        #expect(
            faults?.faults.map(\.key)
                == ["IDENTITY", "PROFILE", "INVITES"].map { "VESTIBULE_\($0)_DATABASE_PASSWORD" }
        )
        let cluster = try SharedTestCluster.cluster()
        let quoted = try configuration(cluster, database: "x; y")
        await #expect(throws: LocalPostgresError.invalidName("x; y")) {
            _ = try await DatabaseRoles(configuration: quoted).make()
        }
    }
}
