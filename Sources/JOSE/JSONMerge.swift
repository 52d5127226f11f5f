extension JSONObject {
    /// This object with another one merged into it: its members replace those of the same names, and its null members
    /// remove them (RFC 7396, but nested objects are replaced and not merged). Members stay in their order; new ones come last.
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
