import JOSE
import Models

/// Reads accounts from the files of a plan, one by one.
public struct AccountReader {
    /// A row.
    public struct Row: Sendable {
        /// The line on which it begins; in JSON the object's number, from 1.
        public let line: Int64
        /// The account's id at its former backend, as far as that can be read.
        public let oldID: String
        /// The account; nil if it is rejected.
        public let account: ImportedAccount?
        /// Why it is rejected.
        public let reason: ImportReason?
    }

    private let plan: ImportPlan
    private let nowMilliseconds: Int64
    private var reader: RecordReader
    private let index: IdentityIndex?
    /// The size of the first file, in bytes.
    public let byteCount: Int64

    /// A reader from the beginning. Reads the whole second file, if there is one.
    ///
    /// - Parameter scratchFolder: a folder with room for an index of the second file: 24 bytes for each of its rows.
    /// - Throws: `ImportError` for files that don't match the plan.
    public init(
        _ plan: ImportPlan,
        _ files: [FileInput],
        scratchFolder: String,
        nowMilliseconds: Int64
    ) throws(ImportError) {
        guard let first = files.first else { throw ImportError(plan.source.rawValue, "a file is required") }
        let second = files.dropFirst().first
        let index = try second.map { file throws(ImportError) in try IdentityIndex(file, scratch: scratchFolder) }
        try self.init(plan, first.bytes(), index, nowMilliseconds: nowMilliseconds)
    }

    init(
        _ plan: ImportPlan,
        _ input: ByteInput,
        _ index: IdentityIndex? = nil,
        nowMilliseconds: Int64
    ) throws(ImportError) {
        self.plan = plan
        self.nowMilliseconds = nowMilliseconds
        byteCount = input.count
        reader = try RecordReader(
            input,
            required: plan.requiredColumns,
            member: plan.member,
            takesJSON: plan.source != .phoneCodes
        )
        if plan.source == .firebase, !reader.isJSON {
            throw ImportError(input.name, "this is not JSON: export with `--format=json`")
        }
        self.index = index
    }

    /// The position of the next row.
    public var position: ImportPosition { reader.position }

    /// Resumes at a position in the same file.
    public mutating func seek(to position: ImportPosition) { reader.seek(to: position) }

    /// The next row; nil at the end.
    public mutating func next() throws(ImportError) -> Row? {
        guard let row = try reader.next() else { return nil }
        guard let record = row.record else {
            return Row(line: row.number, oldID: "", account: nil, reason: .rowInvalid)
        }
        switch try outcome(record) {
        case .account(let account): return Row(line: row.number, oldID: account.oldID, account: account, reason: nil)
        case .rejected(let oldID, let reason):
            let kept = String(oldID.prefix(ImportedID.bytesMax))
            return Row(line: row.number, oldID: kept, account: nil, reason: reason)
        }
    }

    private func outcome(_ record: ImportRecord) throws(ImportError) -> RowOutcome {
        switch plan.source {
        case .phoneCodes: return PhoneCodeRow.account(record, plan)
        case .firebase: return FirebaseRow.account(record, plan)
        case .cognito: return CognitoRow.account(record, plan)
        case .supabase:
            var identities: [ImportRecord]?
            if let index {
                identities = []
                if let userID = record.text("id").flatMap({ UserID($0) }) {
                    identities = try index.records(of: userID)
                }
            }
            return SupabaseRow.account(record, identities: identities, plan, nowMilliseconds: nowMilliseconds)
        }
    }

    /// The digest by which a resumed import recognizes its input: of the files' bytes and the plan.
    public static func digest(_ plan: ImportPlan, _ files: [FileInput]) throws(ImportError) -> [UInt8] {
        var bytes = Array(plan.fingerprint.utf8)
        for file in files { bytes += try file.digest() }
        return SHA256.hash(bytes)
    }
}
