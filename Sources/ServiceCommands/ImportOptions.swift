import ArgumentParser

/// How accounts of another backend are brought in: what `identity import` and `vestibule import` both take.
public struct ImportOptions: ParsableArguments {
    /// Whose export it is.
    @Argument(help: "Whose export it is: phone-codes, supabase, firebase or cognito.")
    public var source: String
    /// The files.
    @Argument(help: "Its file; for supabase that of auth.users, then that of auth.identities.")
    public var files: [String]
    /// The CSV file for rejected rows.
    @Option(help: ArgumentHelp("CSV file for rejected rows.", valueName: "file"))
    public var rejects = "import-rejects.csv"
    /// The CSV file for accounts that nobody can sign in to any more.
    @Option(help: ArgumentHelp("CSV file for accounts that nobody can sign in to any more.", valueName: "file"))
    public var unreachable = "import-unreachable.csv"
    /// The CSV file for the new ids of accounts.
    @Option(
        help: ArgumentHelp(
            "CSV file for the new ids of accounts whose ids were no UUIDs.",
            valueName: "file"
        )
    )
    public var ids: String?
    /// Whether nothing is to be changed.
    @Flag(help: "Change nothing: count, and list what would be rejected.")
    public var dryRun = false
    /// Whether accounts come in that nobody can open.
    @Flag(help: "Make accounts too that nobody can open.")
    public var keepUnreachable = false
    /// What the backend's providers are called here.
    @Option(
        name: .customLong("provider"),
        help: ArgumentHelp("What a provider of theirs is called here; may be given often.", valueName: "theirs=ours")
    )
    public var providers: [String] = []
    /// The word under which old ids are kept.
    @Option(help: ArgumentHelp("The word under which old ids are kept; the source's own.", valueName: "word"))
    public var sourceName: String?
    /// The column of ids.
    @Option(help: ArgumentHelp("phone-codes: the column of ids; id.", valueName: "column"))
    public var idColumn: String?
    /// The column of numbers.
    @Option(help: ArgumentHelp("phone-codes: the column of numbers; phone.", valueName: "column"))
    public var phoneColumn: String?
    /// The column of names.
    @Option(help: ArgumentHelp("phone-codes: the column of display names; name. Empty for none.", valueName: "column"))
    public var nameColumn: String?
    /// The column of times.
    @Option(
        help: ArgumentHelp(
            "phone-codes: the column of when accounts were made; created_at. Empty for none.",
            valueName: "column"
        )
    )
    public var createdAtColumn: String?
    /// The column of usernames.
    @Option(help: ArgumentHelp("phone-codes: the column of usernames; none.", valueName: "column"))
    public var usernameColumn: String?

    /// No options yet: ArgumentParser sets them.
    public init() {}

    /// The command line that says the same.
    public var arguments: [String] {
        var words = [source] + files + ["--rejects", rejects, "--unreachable", unreachable]
        if dryRun { words.append("--dry-run") }
        if keepUnreachable { words.append("--keep-unreachable") }
        for provider in providers { words += ["--provider", provider] }
        let named = [
            ("--ids", ids), ("--source-name", sourceName), ("--id-column", idColumn), ("--phone-column", phoneColumn),
            ("--name-column", nameColumn), ("--created-at-column", createdAtColumn),
            ("--username-column", usernameColumn),
        ]
        // With an equals sign, since a value may be empty.
        for case (let name, let value?) in named { words.append("\(name)=\(value)") }
        return words
    }
}
