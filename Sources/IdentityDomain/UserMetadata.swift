import JOSE

/// What an app keeps of its own with an account: a JSON object that means nothing to us.
public struct UserMetadata: Sendable, Hashable {
    /// The longest text of one, in bytes.
    public static let bytesMax = 16_384
    /// How deep and how many its values may be: what was stored can be read again.
    static let limits = JSONLimits(bytesMax: bytesMax)

    /// The object.
    public let object: JSONObject

    /// Nothing yet.
    public init() { object = JSONObject() }

    private init(_ object: JSONObject) { self.object = object }

    /// Metadata from where it was stored.
    public init(stored text: String) throws(JSONError) {
        object = try JSONObject(parsing: text.utf8, limits: Self.limits)
    }

    /// The object's text.
    public var text: String { object.text }

    /// The metadata after a change: each member takes the place of the one of its name, and null removes it.
    ///
    /// - Parameter bytesMax: the longest text of the result.
    /// - Throws: `metadataTooLarge` if the result is longer or has more values than may be.
    public func applying(
        _ change: MetadataChange,
        bytesMax: Int = UserMetadata.bytesMax
    ) throws(IdentityError) -> UserMetadata {
        let merged = object.merging(change.members)
        // Read as it will be: what fits before may not after, as its text may be longer.
        do {
            return UserMetadata(
                try JSONObject(parsing: merged.serialized(), limits: JSONLimits(bytesMax: bytesMax))
            )
        } catch {
            throw .metadataTooLarge
        }
    }
}

/// Members of an account's metadata that an app changes.
public struct MetadataChange: Sendable, Hashable {
    /// The members; one that is null is to be removed.
    let members: JSONObject

    /// The change that removes one member.
    public init(removing name: String) {
        var members = JSONObject()
        members[name] = .null
        self.members = members
    }

    /// The change of a text, which is a JSON object.
    ///
    /// - Throws: `metadataTooLarge` if it is longer than metadata may be, or `metadataInvalid`.
    public init(parsing text: String) throws(IdentityError) {
        do {
            members = try JSONObject(parsing: text.utf8, limits: UserMetadata.limits)
        } catch .tooLarge, .tooManyValues {
            throw .metadataTooLarge
        } catch {
            throw .metadataInvalid
        }
    }

    /// Addresses among the members that may be reserved by another account.
    public var emails: [EmailReservation] {
        members.members.compactMap { member in
            member.value.string.flatMap { EmailReservation(member: member.name, text: $0) }
        }
    }

    /// The person's name among the members, as apps spell it that keep there what Apple told them once; nil if there is
    /// none that could be a display name.
    public var toldName: String? {
        if let name = members["full_name"]?.string.flatMap(ProviderGivenName.accept) { return name }
        let parts = ["given_name", "family_name"].compactMap { members[$0]?.string }
        return ProviderGivenName.accept(parts.joined(separator: " "))
    }
}
