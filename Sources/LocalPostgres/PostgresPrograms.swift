import Foundation

/// Where PostgreSQL's programs are.
package enum PostgresPrograms {
    /// The variable with the folder of the programs to use. Without it those of Debian's packages are used.
    package static let variable = "VESTIBULE_RUN_POSTGRES"
    /// Where Debian's packages have the programs of each version.
    private static let root = "/usr/lib/postgresql"

    /// The folders to look in, the best first: the one of the variable alone; else those of Debian's packages, the newest version first;
    /// else those of `PATH`.
    ///
    /// - Parameter majorVersion: the version of those of Debian's packages; nil for any.
    package static func folders(majorVersion: Int?) -> [String] {
        let environment = ProcessInfo.processInfo.environment
        if let named = environment[variable], !named.isEmpty { return [named] }
        let versions = ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? [])
            .compactMap { Int($0) }
            .filter { majorVersion == nil || $0 == majorVersion }
            .sorted(by: >)
        return versions.map { "\(root)/\($0)/bin" } + (environment["PATH"] ?? "").split(separator: ":").map(String.init)
    }

    /// The major version of a program, by what `--version` prints, such as "postgres (PostgreSQL) 15.18 …"; nil if it can't be run.
    package static func majorVersion(of program: String) -> Int? {
        guard let output = try? ChildProcess.run([program, "--version"]).output else { return nil }
        return output.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) }
    }
}
