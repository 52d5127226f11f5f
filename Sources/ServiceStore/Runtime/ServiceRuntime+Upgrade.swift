import Postgres
import ServiceKit

extension ServiceRuntime {
    /// Says what `migrate` would do; changes nothing.
    public func migrationReport() async throws -> MigrationReport {
        let preview = try await Migrator(migrationConfiguration)
            .preview(migrations, schema: configuration[keys.databaseSchema])
        return MigrationReport(preview, service: keys.program, migrations: migrations)
    }
}

extension MigrationReport {
    init(_ preview: MigrationPreview, service: String, migrations: [Migration]) {
        let applied = preview.appliedCount
        let known = (1...max(migrations.count, 1)).contains(applied) ? migrations[applied - 1].release : nil
        var steps = preview.pending.map { Step($0, sizes: preview.sizes) }
        if !preview.notValidated.isEmpty {
            let left = preview.notValidated.map { Table(.validated($0), sizes: preview.sizes) }
            steps.append(
                Step(number: 0, name: "constraints that earlier migrations left", version: nil, tables: left)
            )
        }
        let (verdict, versionToStart) = Self.judge(preview, migrations: migrations)
        self.init(
            service: service,
            database: Place(migration: applied, version: known?.description),
            program: Place(migration: migrations.count, version: MinorVersion.current.description),
            verdict: verdict,
            versionToStart: versionToStart?.description,
            steps: steps
        )
    }

    /// The version before runs on the tables of the version after it. A database that lacks a migration of an earlier version than this one
    /// has programs running that are older than the version before.
    private static func judge(
        _ preview: MigrationPreview,
        migrations: [Migration]
    ) -> (Verdict, versionToStart: MinorVersion?) {
        if let oldest = preview.oldestProgram { return (.tooNew, oldest) }
        if preview.appliedCount > migrations.count { return (.newerDatabase, nil) }
        if preview.appliedCount == 0 { return (.new, nil) }
        guard let first = preview.pending.first else { return (.upToDate, nil) }
        return first.release < .current ? (.tooFar, first.release) : (.allowed, nil)
    }
}

extension MigrationReport.Step {
    init(_ migration: Migration, sizes: [String: MigrationPreview.TableSize]) {
        let tables = migration.effects.map { MigrationReport.Table($0, sizes: sizes) }
        // A lock is held until the transaction ends.
        let seconds = zip(migration.effects, tables).filter { !$0.0.work.isOutsideTransaction }.map(\.1.lockSeconds)
            .reduce(0, +)
        self.init(
            number: migration.number,
            name: migration.name,
            version: migration.release.description,
            tables: zip(migration.effects, tables).map { effect, table in
                var table = table
                if !effect.work.isOutsideTransaction { table.lockSeconds = seconds }
                return table
            }
        )
    }
}

extension MigrationReport.Table {
    init(_ effect: TableEffect, sizes: [String: MigrationPreview.TableSize]) {
        let size = sizes[effect.table]
        let bytes = effect.work.bytes(size)
        self.init(
            name: effect.table,
            lock: effect.lock.rawValue,
            blocks: effect.lock.blocks,
            work: effect.work.rawValue,
            rows: size?.rows,
            totalBytes: size?.totalBytes,
            workBytes: bytes,
            bytesPerSecond: effect.work.bytesPerSecond,
            lockSeconds: effect.work.bytesPerSecond.map { Double(bytes) / Double($0) } ?? 0
        )
    }
}

extension TableEffect.Lock {
    fileprivate var blocks: String {
        switch self {
        case .shareUpdateExclusive, .rowExclusive: "nobody"
        case .share, .shareRowExclusive, .exclusive: "writes"
        case .accessExclusive: "all"
        }
    }
}

extension TableEffect.Work {
    /// What it reads or writes of a table.
    fileprivate func bytes(_ size: MigrationPreview.TableSize?) -> Int64 {
        switch self {
        case .catalog: 0
        case .scan, .validation: size?.tableBytes ?? 0
        case .concurrentIndex: 2 * (size?.tableBytes ?? 0)
        case .rewrite, .rows: size?.totalBytes ?? 0
        }
    }

    /// Rates that a disk of the cloud reaches; the order of magnitude is all that they are for. See docs/run/upgrade.md.
    fileprivate var bytesPerSecond: Int64? {
        switch self {
        case .catalog: nil
        case .scan, .validation: 100_000_000
        case .concurrentIndex: 50_000_000
        case .rewrite, .rows: 20_000_000
        }
    }
}
