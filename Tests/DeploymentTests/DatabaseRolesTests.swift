import LocalPostgres
import Postgres
import ServiceKit
import TestDatabases
import Testing

@testable import Deployment

struct DatabaseRolesTests {
    private func configuration(
        _ cluster: LocalCluster,
        database: String,
        profilePassword: String = "p'2",
        hasOwners: Bool = false
    ) throws -> Configuration {
        var values = [
            "VESTIBULE_DATABASE_HOST": cluster.socketDirectory, "VESTIBULE_DATABASE_PORT": "\(cluster.port)",
            "VESTIBULE_DATABASE_NAME": database, "VESTIBULE_ROLES_OWNER": cluster.superuser,
            "VESTIBULE_PROFILE_DATABASE_PASSWORD": profilePassword,
        ]
        for service in ["IDENTITY", "PROFILE", "INVITES"] {
            values["VESTIBULE_\(service)_DATABASE_USER"] = "\(database)_\(service.lowercased())"
            if service != "PROFILE" { values["VESTIBULE_\(service)_DATABASE_PASSWORD"] = "secret" }
            if hasOwners {
                values["VESTIBULE_\(service)_DATABASE_OWNER"] = "\(database)_\(service.lowercased())_owner"
                values["VESTIBULE_\(service)_DATABASE_OWNER_PASSWORD"] = "o'3"
                values["VESTIBULE_ROLES_CLOSE_CLUSTER"] = "true"
            }
        }
        return try .testing(keys: DatabaseRoles.configurationKeys, program: "roles", values)
    }

    private func login(_ cluster: LocalCluster, _ database: String, _ password: String) -> AdministrativeSession {
        AdministrativeSession(access(cluster, database, "\(database)_profile", password))
    }

    private func access(
        _ cluster: LocalCluster,
        _ database: String,
        _ user: String,
        _ password: String
    ) -> PostgresConfiguration {
        PostgresConfiguration(
            host: cluster.socketDirectory,
            port: cluster.port,
            user: user,
            password: password,
            database: database
        )
    }

    private func isRefused(_ session: AdministrativeSession, _ script: String) async throws -> Bool {
        do {
            try await session.run(script)
            return false
        } catch AdministrativeSession.Failure.refused(let fault) {
            return fault.state == .insufficientPrivilege
        }
    }

    /// That the service's role may change rows and nothing else, and its owner's migrations reach it.
    private func requireLeastPrivilege(_ cluster: LocalCluster, _ database: String) async throws {
        let owner = access(cluster, database, "\(database)_profile_owner", "o'3")
        let sql = "CREATE TABLE two (id bigint GENERATED ALWAYS AS IDENTITY, n int)"
        let two = Migration(number: 2, name: "two", sql: sql)
        try await Migrator(owner).run([Self.one, two], schema: "profile")
        let service = login(cluster, database, "p'2")
        for table in ["one", "two"] {
            try await service.run("INSERT INTO \(table) (n) VALUES (1); UPDATE \(table) SET n = 2")
            try await service.run("DELETE FROM \(table)")
            try await service.run("SELECT * FROM \(table) FOR UPDATE")
        }
        #expect(try await service.run("SELECT count(*) FROM schema_migrations") == [["2"]])
        for script in [
            "CREATE TABLE mine (n int)", "DROP TABLE one", "ALTER TABLE two ADD COLUMN m int", "TRUNCATE one",
            "DELETE FROM schema_migrations", "UPDATE schema_migrations SET checksum = ''",
            "DROP SCHEMA profile CASCADE",
            "CREATE SCHEMA mine", "CREATE TEMPORARY TABLE mine (n int)", "SELECT * FROM identity.anything",
        ] {
            #expect(try await isRefused(service, script), "\(script)")
        }
        // A service that has nothing left to migrate needs no owner.
        let asService = access(cluster, database, "\(database)_profile", "p'2")
        #expect(try await Migrator(asService).run([Self.one, two], schema: "profile").applied.isEmpty)
        let elsewhere = AdministrativeSession(access(cluster, "postgres", "\(database)_profile", "p'2"))
        await #expect(throws: AdministrativeSession.Failure.self) { try await elsewhere.run("SELECT 1") }
    }

    private static let one = Migration(number: 1, name: "one", sql: "CREATE TABLE one (n int)")

    @Test func `With owners, a service may change rows and nothing else, also of tables to come`() async throws {
        let cluster = try SharedTestCluster.cluster()
        let roles = DatabaseRoles(configuration: try configuration(cluster, database: "owned", hasOwners: true))
        let names = ["identity", "profile", "invites"].flatMap { ["owned_\($0)", "owned_\($0)_owner"] }
        #expect(try await roles.make() == names)
        try await requireLeastPrivilege(cluster, "owned")
        #expect(try await roles.make() == names)
        try await requireLeastPrivilege(cluster, "owned")
    }

    @Test func `A deployment with one role gets owners, and its rows stay`() async throws {
        let cluster = try SharedTestCluster.cluster()
        _ = try await DatabaseRoles(configuration: try configuration(cluster, database: "upgraded")).make()
        try await Migrator(access(cluster, "upgraded", "upgraded_profile", "p'2")).run([Self.one], schema: "profile")
        try await login(cluster, "upgraded", "p'2").run("INSERT INTO one VALUES (7)")
        _ = try await DatabaseRoles(
            configuration: try configuration(cluster, database: "upgraded", hasOwners: true)
        ).make()
        let seven = "SELECT n FROM one"
        #expect(try await login(cluster, "upgraded", "p'2").run(seven) == [["7"]])
        try await requireLeastPrivilege(cluster, "upgraded")
    }

    @Test func `An owner without a password, or that is the service's own role, is refused`() async throws {
        let bare = try Configuration.testing(
            keys: DatabaseRoles.configurationKeys,
            program: "roles",
            ["VESTIBULE_INVITES_DATABASE_OWNER": "x", "VESTIBULE_INVITES_DATABASE_PASSWORD": "y"]
        )
        let faults = await #expect(throws: ConfigurationErrors.self) {
            _ = try await DatabaseRoles(configuration: bare).make()
        }
        #expect(faults?.faults.last?.key == "VESTIBULE_INVITES_DATABASE_OWNER_PASSWORD")
        #expect(throws: LocalPostgresError.invalidName("a")) {
            try ServiceRoleSQL.roles("a", password: "", owner: "a", ownerPassword: "", schema: "s", database: "d")
        }
    }

    @Test func `Makes database, roles and schemas; several at once and again do no harm`() async throws {
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

    @Test func `A new password takes the place of the old one`() async throws {
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

    @Test func `Missing passwords and names that need quotes are refused before anything is opened`() async throws {
        let bare = try Configuration.testing(keys: DatabaseRoles.configurationKeys, program: "roles")
        let faults = await #expect(throws: ConfigurationErrors.self) {
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
