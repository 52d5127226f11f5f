import Dispatch
import LocalPostgres

/// A database of one test's own, and how its service's role connects.
public struct TestDatabase: Sendable {
    /// The host for a client.
    public let socketDirectory: String
    /// The number in the socket's name.
    public let port: Int
    /// The login role of the service.
    public let user: String
    /// The login role that owns the schema, with the same password; the service's unless another was asked for.
    public let owner: String
    /// The password of both.
    public let password: String
    /// The database.
    public let database: String
    /// The schema; also the role's search path.
    public let schema: String
    /// The cluster that it is in, for SQL as superuser.
    public let cluster: LocalCluster

    /// A new database with roles of its own; `number` must be new in the cluster. Blocks.
    ///
    /// - Parameters:
    ///   - bootstrapSQL: run in it as superuser.
    ///   - hasOwner: whether another role than the service's owns the schema, as in a deployment.
    public static func make(
        in cluster: LocalCluster,
        number: Int,
        schema: String = "app",
        bootstrapSQL: String = "",
        hasOwner: Bool = false
    ) throws -> TestDatabase {
        let database = "test_\(number)"
        let user = "\(schema)_\(number)"
        let password = (0..<4).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined()
        try cluster.createDatabase(database)
        let owner = hasOwner ? "\(user)_owner" : user
        if hasOwner {
            try cluster.createServiceRoles(
                name: user,
                password: password,
                owner: owner,
                ownerPassword: password,
                schema: schema,
                database: database
            )
        } else {
            try cluster.createServiceRole(name: user, password: password, schema: schema, database: database)
        }
        if !bootstrapSQL.isEmpty { try cluster.runSQL(bootstrapSQL, database: database) }
        return TestDatabase(
            socketDirectory: cluster.socketDirectory,
            port: cluster.port,
            user: user,
            owner: owner,
            password: password,
            database: database,
            schema: schema,
            cluster: cluster
        )
    }

    /// A new database in the shared cluster that stays there until the process ends.
    public static func fresh(
        schema: String = "app",
        bootstrapSQL: String = "",
        hasOwner: Bool = false
    ) async throws -> TestDatabase {
        try await offExecutor {
            let (cluster, number) = try SharedTestCluster.nextDatabase()
            return try make(
                in: cluster,
                number: number,
                schema: schema,
                bootstrapSQL: bootstrapSQL,
                hasOwner: hasOwner
            )
        }
    }

    /// Gives a test a new database in the shared cluster, and drops it afterwards.
    public static func withFresh<R>(
        schema: String = "app",
        bootstrapSQL: String = "",
        hasOwner: Bool = false,
        _ body: (TestDatabase) async throws -> R
    ) async throws -> R {
        try await fresh(schema: schema, bootstrapSQL: bootstrapSQL, hasOwner: hasOwner).use(body)
    }

    /// A copy of the database under another name, with the same roles. Blocks.
    func copy(number: Int) throws -> TestDatabase {
        let name = "test_\(number)"
        try cluster.runSQL("CREATE DATABASE \(name) TEMPLATE \(database)")
        return TestDatabase(
            socketDirectory: socketDirectory,
            port: port,
            user: user,
            owner: owner,
            password: password,
            database: name,
            schema: schema,
            cluster: cluster
        )
    }

    /// Runs a test on it, and drops it afterwards, so that what is dropped is never written to a disk.
    func use<R>(_ body: (TestDatabase) async throws -> R) async throws -> R {
        let result: Result<R, any Error>
        do { result = .success(try await body(self)) } catch { result = .failure(error) }
        try await Self.offExecutor { try cluster.dropDatabase(database) }
        return try result.get()
    }

    /// Runs what blocks on another thread: the executor has one a core, and all other tests wait for it.
    static func offExecutor<R: Sendable>(_ work: @escaping @Sendable () throws -> R) async throws -> R {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Result { try work() }) }
        }
    }
}
