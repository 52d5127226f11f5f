import ArgumentParser
import Foundation
import ProfileService
import ServiceCommands
import ServiceKit

/// `profile import`: stores the data of imported accounts that `identity import` writes.
struct ImportProfiles: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import the names and numbers of accounts, from the output of `identity import`.",
        discussion: """
            Reads standard input: identity import … | profile import. `vestibule import` runs both. It reads the \
            configuration of `serve` and connects as its role.

            The exit code is 0 if everything was imported, \(ImportProfiles.somethingRejected) if rows or parts of \
            rows were rejected, and 1 if this program or identity failed before the end. See docs/move/imports.md.
            """
    )

    /// The exit code if rows or parts of rows were rejected.
    static let somethingRejected: Int32 = 3

    @OptionGroup var file: ConfigurationFileOption
    @Option(
        help: ArgumentHelp("CSV file for rejected rows; rows are appended to identity's.", valueName: "file")
    )
    var rejects = "import-rejects.csv"
    @Option(help: .hidden)
    var position: String?

    func run() async {
        await Program.run(ProfileServer.self, configurationPath: file.path) { server in
            if let position {
                print(try await server.importPosition(of: try Self.bytes(position)) ?? "")
                return
            }
            let outcome = try await server.importProfiles(from: STDIN_FILENO, rejectsPath: rejects)
            print(
                "profile: \(outcome.applied) profiles \(outcome.isDry ? "would have" : "have") what came for them, "
                    + "\(outcome.there) had it, \(outcome.rejections) rejections"
            )
            if outcome.rejections > 0 { Program.end(nil, code: Self.somethingRejected) }
        }
    }

    private static func bytes(_ text: String) throws -> [UInt8] {
        let digits = Array(text.utf8)
        let values = digits.compactMap { Character(Unicode.Scalar($0)).hexDigitValue.map { UInt8($0) } }
        guard digits.count == 64, values.count == 64 else { throw ValidationError("--position must be a digest") }
        return stride(from: 0, to: 64, by: 2).map { values[$0] << 4 | values[$0 + 1] }
    }
}
