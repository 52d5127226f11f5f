import ArgumentParser
import IdentityService
import ServiceCommands
import ServiceKit

/// `identity after-restore`: makes a restored database ready for users.
struct AfterRestore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "after-restore",
        abstract: "Make a restored database ready: end all sessions, and delete again who was deleted since.",
        discussion: """
            Run it before identity serves on a restored database. `vestibule restore` runs it by itself on one machine. It reads \
            the configuration of `serve` and connects as its role. Without --confirm nothing is changed, and the exit code is 1. \
            It can be repeated.
            """
    )

    private static let logBytesMax = 1 << 30

    @OptionGroup var file: ConfigurationFileOption
    @Option(
        help: ArgumentHelp("The log that `vestibule backup` keeps: lines with id, time and reason.", valueName: "file")
    )
    var deletedAccounts: String?
    @Flag(help: "Do it. It can't be undone.")
    var confirm = false

    func run() async {
        await Program.run(IdentityServer.self, configurationPath: file.path) { server in
            var log = ""
            if let deletedAccounts {
                let bytes: [UInt8]
                do {
                    bytes = try FileBytes.read(deletedAccounts, bytesMax: Self.logBytesMax)
                } catch {
                    throw FileError("\(deletedAccounts) \(error)")
                }
                log = String(decoding: bytes, as: UTF8.self)
            }
            for line in try await server.afterRestore(deletedAccounts: log, isConfirmed: confirm) { print(line) }
        }
    }
}
