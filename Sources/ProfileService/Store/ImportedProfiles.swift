import AccountImport

/// The outcome of a batch of profiles.
struct ImportedProfiles: Sendable {
    /// Profiles that now have all their imported data.
    var applied: Int64 = 0
    /// Profiles that had it before.
    var there: Int64 = 0
    /// The rejected parts, and their rows.
    var rejections: [(row: ProfileStream.Row, reason: ImportReason)] = []
}
