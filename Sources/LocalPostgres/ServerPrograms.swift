import Foundation

/// The folder with one version's `initdb`, `postgres` and `psql`.
struct ServerPrograms: Sendable {
    let folder: String

    var initdb: String { folder + "/initdb" }
    var postgres: String { folder + "/postgres" }
    var psql: String { folder + "/psql" }

    /// The newest installed version, or the one of `majorVersion`: a data folder works only with its own.
    static func find(majorVersion: Int? = nil) throws(LocalPostgresError) -> ServerPrograms {
        for folder in PostgresPrograms.folders(majorVersion: majorVersion) {
            let programs = ServerPrograms(folder: folder)
            guard programs.isComplete else { continue }
            if majorVersion == nil || PostgresPrograms.majorVersion(of: programs.postgres) == majorVersion {
                return programs
            }
        }
        throw .programsMissing(majorVersion: majorVersion)
    }

    private var isComplete: Bool {
        [initdb, postgres, psql].allSatisfy { FileManager.default.isExecutableFile(atPath: $0) }
    }
}
