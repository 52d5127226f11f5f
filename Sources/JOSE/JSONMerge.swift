extension JSONObject {
    /// This object with the members of another in the place of those of the same names; a member that is null there is
    /// removed (RFC 7396 without its descent into objects). Members stay in their order, new ones come last.
    ///
    /// Takes time in proportion to the members of both.
    public func merging(_ changes: JSONObject) -> JSONObject {
        var changed: [String: JSONValue] = [:]
        for member in changes.members { changed[member.name] = member.value }
        var merged = JSONObject()
        for member in members {
            let value = changed.removeValue(forKey: member.name) ?? member.value
            if value != .null { merged.appendUnique(member.name, value) }
        }
        for member in changes.members where member.value != .null && changed[member.name] != nil {
            merged.appendUnique(member.name, member.value)
        }
        return merged
    }
}
