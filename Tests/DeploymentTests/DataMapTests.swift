import Dispatch
import Foundation
import IdentityService
import InvitesService
import Postgres
import ProfileService
import TestDatabases
import Testing

/// The tables of docs/run/deleted-accounts.md say until when each table keeps what it holds: of all tables that there are, and of no others.
struct DataMapTests {
    @Test func `The page names each table of each schema once, and says until when it keeps what`() async throws {
        let page = try DataMap(readingPage: "docs/run/deleted-accounts.md")
        #expect(page.repeated == [])
        #expect(page.unlimited == [], "what is kept in it, and until when?")
        var tables: Set<String> = []
        for (schema, migrations) in [
            ("identity", IdentityMigrations.all), ("profile", ProfileMigrations.all),
            ("invites", InvitesMigrations.all),
        ] {
            tables.formUnion(try await Self.tables(of: schema, after: migrations))
        }
        #expect(tables.count > 50)
        #expect(tables.subtracting(page.tables).sorted() == [], "are on no line of the page")
        #expect(page.tables.subtracting(tables).sorted() == [], "are on the page alone")
    }

    @Test func `A line names tables of one schema, of several, or of each its own`() throws {
        let map = DataMap(
            """
            | table | what | until |
            | --- | --- | --- |
            | identity `a`, `b` | x | a day |
            | profile and invites `c` | x | a day |
            | profile `d`, invites `e` | x | |
            | invites `c` | | a day |

            Not `f` of identity.
            """
        )
        #expect(map.tables == ["identity.a", "identity.b", "profile.c", "invites.c", "profile.d", "invites.e"])
        #expect(map.repeated == ["invites.c"])
        #expect(map.unlimited == ["invites.c", "invites.e", "profile.d"])
    }

    /// The tables of a schema, by its name and theirs.
    private static func tables(of schema: String, after migrations: [Migration]) async throws -> Set<String> {
        try await TestDatabase.withMigrated(migrations, schema: schema) { database in
            let names = try await AdministrativeSession(database.ownerConfiguration).run(
                "SELECT table_name FROM information_schema.tables WHERE table_schema = '\(schema)'"
            )
            return Set(names.compactMap { $0.first.map { "\(schema).\($0)" } })
        }
    }
}

/// What the rows of a page's tables say of tables of the database.
private struct DataMap {
    private static let schemas: Set<String> = ["identity", "profile", "invites"]

    /// The tables, as `schema.table`.
    private(set) var tables: Set<String> = []
    /// Those that stand in more than one row.
    private(set) var repeated: [String] = []
    /// Those of which nothing is said, or not until when.
    private var unsaid: Set<String> = []

    var unlimited: [String] { unsaid.sorted() }

    init(readingPage path: String) throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        self.init(try String(contentsOf: root.appending(path: path), encoding: .utf8))
    }

    init(_ text: String) {
        for line in text.split(separator: "\n") where line.hasPrefix("| ") {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            guard let first = cells.first, let start = first.split(separator: " ").first,
                Self.schemas.contains(String(start))
            else { continue }
            let isSaid = cells.count == 4 && !cells[1].isEmpty && !cells[2].isEmpty
            for table in Self.tables(in: first) {
                if !tables.insert(table).inserted { repeated.append(table) }
                if !isSaid { unsaid.insert(table) }
            }
        }
    }

    /// The tables of a cell: each name is of the schemas that stand before it.
    private static func tables(in cell: String) -> [String] {
        var found: [String] = []
        var schemas: [String] = []
        var isBehindName = true
        for word in cell.split(whereSeparator: { $0 == " " || $0 == "," }).map(String.init) where word != "and" {
            if word.hasPrefix("`") {
                found += schemas.map { "\($0).\(word.dropFirst().dropLast())" }
                isBehindName = true
            } else {
                if isBehindName { schemas = [] }
                schemas.append(word)
                isBehindName = false
            }
        }
        return found
    }
}
