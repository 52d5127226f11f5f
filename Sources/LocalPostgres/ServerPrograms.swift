import Foundation

/// The folder with one version's `initdb`, `postgres` and `psql`.
struct ServerPrograms: Sendable {
    let folder: String

    var initdb: String { folder + "/initdb" }
    var postgres: String { folder + "/postgres" }
    var psql: String { folder + "/psql" }

    /// The newest installed version, or the one of `majorVersion`: a data folder works only with its own.
    static func find(majorVersion: Int? = nil) throws(LocalPostgresError) -> ServerPrograms {
        let root = "/usr/lib/postgresql"
        let versions = ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? [])
            .compactMap { Int($0) }
            .filter { majorVersion == nil || $0 == majorVersion }
            .sorted(by: >)
        for version in versions {
            let programs = ServerPrograms(folder: "\(root)/\(version)/bin")
            if programs.isComplete { return programs }
        }
        // On systems other than Debian the programs of one version are on the PATH.
        for folder in (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":") {
            let programs = ServerPrograms(folder: String(folder))
            guard programs.isComplete else { continue }
            if majorVersion == nil || programs.majorVersion == majorVersion { return programs }
        }
        throw .programsMissing(majorVersion: majorVersion)
    }

    private var isComplete: Bool {
        [initdb, postgres, psql].allSatisfy { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// From `postgres --version`, which prints "postgres (PostgreSQL) 15.18 …".
    private var majorVersion: Int? {
        guard let output = try? ChildProcess.run([postgres, "--version"]).output else { return nil }
        return output.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) }
    }
}
