import AccountImport
import ArgumentParser
import Dispatch
import Glibc
import IdentityService
import ServiceCommands
import ServiceKit

/// `identity import`: brings in the accounts of another backend.
struct ImportAccounts: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Bring in the accounts of another backend; what it writes is for `profile import`.",
        discussion: """
            Makes the accounts of the files, and writes to standard output what profile keeps of them: identity import … | profile \
            import. `vestibule import` runs the two, and goes on where one was killed. It reads the configuration of `serve` and \
            connects as its role. Progress is printed on standard error.

            The exit code is 0 if all came in, \(ImportAccounts.somethingRejected) if something was rejected, and 1 if it ended \
            before its end; what was done stays done, and what is there is left as it is when it runs again. See \
            docs/move/imports.md.
            """
    )

    /// What the exit code is where something was rejected.
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
            Program.end("identity import: what it writes is for profile: identity import … | profile import", code: 1)
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
        // A thread of its own, which waits in the kernel. Foundation's would bring 50 MB of it into the program.
        DispatchQueue(label: "input").async {
            var byte: UInt8 = 0
            while read(STDIN_FILENO, &byte, 1) > 0 {}
            _exit(1)
        }
    }

    /// What is to be done.
    private func order() throws -> ImportOrder {
        guard let source = ImportSource(rawValue: options.source) else {
            let known = ImportSource.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("\"\(options.source)\" is no source: there are \(known)")
        }
        guard source.filesRange ~= options.files.count else {
            throw ValidationError("\(source.rawValue) has \(source == .supabase ? "one file or two" : "one file")")
        }
        var plan = ImportPlan(source)
        plan.keepsUnreachable = options.keepUnreachable
        if let name = options.sourceName {
            guard !name.isEmpty, !name.contains(":") else {
                throw ValidationError("--source-name is a word without a colon")
            }
            plan.sourceName = name
        }
        for text in options.providers {
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { throw ValidationError("--provider is theirs=ours") }
            plan.providers[parts[0]] = parts[1]
        }
        try setColumns(&plan)
        var position: ImportPosition?
        if let after {
            guard let told = ImportPosition(after) else {
                throw ValidationError("--after is what `profile import` printed")
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
            throw ValidationError("columns are named for phone-codes alone: the others' are known")
        }
        if let column = options.idColumn { plan.columns.id = column }
        if let column = options.phoneColumn { plan.columns.phone = column }
        if let column = options.nameColumn { plan.columns.name = column.isEmpty ? nil : column }
        if let column = options.createdAtColumn { plan.columns.createdAt = column.isEmpty ? nil : column }
        if let column = options.usernameColumn { plan.columns.username = column.isEmpty ? nil : column }
    }
}
