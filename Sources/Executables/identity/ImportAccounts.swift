import AccountImport
import ArgumentParser
import Dispatch
import Glibc
import IdentityService
import ServiceCommands
import ServiceKit

/// `identity import`: imports the accounts of another backend.
struct ImportAccounts: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import the accounts of another backend; its output is for `profile import`.",
        discussion: """
            Creates the accounts in the files, and writes the data for profile to standard output: identity import … \
            | profile import. `vestibule import` runs both, and continues after one was killed. It reads the \
            configuration of `serve` and connects as its role. Progress is printed on standard error.

            The exit code is 0 if everything was imported, \(ImportAccounts.somethingRejected) if rows or parts of \
            rows were rejected, and 1 if the import failed before its end. What was done stays done: another run \
            leaves existing accounts unchanged. See docs/move/imports.md.
            """
    )

    /// The exit code if rows or parts of rows were rejected.
    static let somethingRejected: Int32 = 3

    @OptionGroup var file: ConfigurationFileOption
    @OptionGroup var options: ImportOptions
    @Option(help: .hidden)
    var after: String?
    @Flag(help: .hidden)
    var digest = false
    @Flag(help: .hidden)
    var endWithInput = false

    func validate() throws { _ = try order() }

    func run() async {
        let order: ImportOrder
        do { order = try self.order() } catch { Program.end(error, program: "identity import") }
        if !digest, isatty(STDOUT_FILENO) == 1 {
            Program.end("identity import: its output is for profile: identity import … | profile import", code: 1)
        }
        if endWithInput { Self.endWithInput() }
        let bar = ImportBar()
        await Program.run(IdentityServer.self, configurationPath: file.path) { server in
            if digest {
                print(try server.importDigest(order))
                return
            }
            let outcome: ImportProgress
            do {
                outcome = try await server.importAccounts(order, to: STDOUT_FILENO) { bar.tell($0) }
            } catch {
                bar.end(nil)
                throw error
            }
            bar.end(Self.line(outcome, order))
            if outcome.rejections > 0 { Program.end(nil, code: Self.somethingRejected) }
        }
    }

    private static func line(_ outcome: ImportProgress, _ order: ImportOrder) -> String {
        let made = order.isDry ? "would be made" : "made"
        return "identity: \(outcome.rows) rows: \(outcome.made) accounts \(made), \(outcome.there) there already, "
            + "\(outcome.unreachable) unreachable, \(outcome.rejectedRows) rows rejected, \(outcome.rejections) rejections in all"
            + (order.isDry ? ". Nothing was changed" : "")
    }

    /// Ends this process when its parent process is gone.
    private static func endWithInput() {
        // A separate thread, which waits in the kernel. Foundation's classes would add 50 MB to the program.
        DispatchQueue(label: "input").async {
            var byte: UInt8 = 0
            while read(STDIN_FILENO, &byte, 1) > 0 {}
            _exit(1)
        }
    }

    /// The order of the import.
    private func order() throws -> ImportOrder {
        guard let source = ImportSource(rawValue: options.source) else {
            let known = ImportSource.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("\"\(options.source)\" is not a source; expected \(known)")
        }
        guard source.filesRange ~= options.files.count else {
            throw ValidationError("\(source.rawValue) has \(source == .supabase ? "one file or two" : "one file")")
        }
        var plan = ImportPlan(source)
        plan.keepsUnreachable = options.keepUnreachable
        if let name = options.sourceName {
            guard !name.isEmpty, !name.contains(":") else {
                throw ValidationError("--source-name must be a word without a colon")
            }
            plan.sourceName = name
        }
        for text in options.providers {
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { throw ValidationError("--provider must be theirs=ours") }
            plan.providers[parts[0]] = parts[1]
        }
        try setColumns(&plan)
        var position: ImportPosition?
        if let after {
            guard let told = ImportPosition(after) else {
                throw ValidationError("--after must be a position that `profile import` printed")
            }
            position = told
        }
        return ImportOrder(
            plan,
            files: options.files,
            position: position,
            isDry: options.dryRun,
            rejectsPath: options.rejects,
            unreachablePath: options.unreachable,
            idsPath: options.ids
        )
    }

    private func setColumns(_ plan: inout ImportPlan) throws {
        let named = [
            options.idColumn, options.phoneColumn, options.nameColumn, options.createdAtColumn, options.usernameColumn,
        ]
        guard plan.source == .phoneCodes || named.allSatisfy({ $0 == nil }) else {
            throw ValidationError("column names can only be set for phone-codes")
        }
        if let column = options.idColumn { plan.columns.id = column }
        if let column = options.phoneColumn { plan.columns.phone = column }
        if let column = options.nameColumn { plan.columns.name = column.isEmpty ? nil : column }
        if let column = options.createdAtColumn { plan.columns.createdAt = column.isEmpty ? nil : column }
        if let column = options.usernameColumn { plan.columns.username = column.isEmpty ? nil : column }
    }
}
