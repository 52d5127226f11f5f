import Foundation
import Synchronization

/// A database of its own for one suite, and how its service role connects.
public struct TestDatabase: Sendable {
    /// The host for a client.
    public let socketDirectory: String
    /// The number in the socket's name.
    public let port: Int
    /// The login role of the service.
    public let user: String
    /// The login role that owns the schema, with the same password; the service's unless another was asked for.
    public let owner: String
    /// Its password.
    public let password: String
    /// The database.
    public let database: String
    /// The schema; also the role's search path.
    public let schema: String
    /// The cluster that it is in, for SQL as superuser.
    public let cluster: LocalCluster

    /// Another database with its own role; `number` must be new in the cluster.
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
}
