import IdentityDomain
import JOSE
import ServiceKit

/// The file that says whose assertions of phone numbers are accepted, as JSON: `{"issuer": "…", "audience": "…", "keys": [JWK,
/// …]}`.
enum PhoneAssertionsFile {
    static let bytesMax = 65_536
    /// The maximum of keys: one that signs, and those before and after it.
    static let keysMax = 8
    private static let limits = JSONLimits(bytesMax: bytesMax, depthMax: 4, valuesMax: 1_024)
    /// The secret members of a JWK, which only the signer may have (RFC 7518 section 6).
    private static let secretMembers = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"]

    /// Reads whose assertions are accepted; nil without a file.
    ///
    /// - Throws: `ConfigurationErrors` with all errors found.
    static func read(_ file: ConfiguredFile?) throws(ConfigurationErrors) -> PhoneAssertionPolicy? {
        guard let file else { return nil }
        let findings = ProviderFindings()
        let key = IdentityKeys.phoneAssertionsFile.name
        guard let object = try? JSONObject(parsing: file.content.bytes, limits: limits) else {
            findings.fault(key, "holds no JSON object (RFC 8259) of at most \(bytesMax) bytes")
            throw ConfigurationErrors(findings.faults)
        }
        let entry = EntryReader(object: object, place: "phone assertions", findings: findings, key: key)
        entry.expect(["issuer", "audience", "keys"])
        for member in ["issuer", "audience"] where !entry.has(member) { entry.fault("\"\(member)\" is required") }
        let issuer = entry.text("issuer")
        let audience = entry.text("audience")
        let keys = keys(entry, file.content.bytes)
        guard findings.faults.isEmpty, let issuer, let audience, let keys else {
            throw ConfigurationErrors(findings.faults)
        }
        return PhoneAssertionPolicy(issuer: issuer, audience: audience, keys: keys)
    }

    /// The keys, all of which must be usable: a skipped one would be missed when it signs.
    private static func keys(_ entry: EntryReader, _ bytes: [UInt8]) -> KeySet? {
        guard let elements = entry.object["keys"]?.array, 1...keysMax ~= elements.count else {
            entry.fault("\"keys\" must be an array of 1 to \(keysMax) public keys (JWK, RFC 7517)")
            return nil
        }
        let keys = try? KeySet(parsing: bytes)
        let usable = Set(keys.map { $0.entries.map(\.keyID) } ?? [])
        var ids: Set<String> = []
        for (index, element) in elements.enumerated() {
            let place = "key \(index + 1)"
            if let secret = secretMembers.first(where: { element.object?[$0] != nil }) {
                entry.fault("\(place) has \"\(secret)\", a part of a secret key: only public ones belong here")
            } else if let keyID = element.object?["kid"]?.string, usable.contains(keyID) {
                if !ids.insert(keyID).inserted { entry.fault("\(place) has the \"kid\" of another one") }
            } else {
                entry.fault(
                    "\(place) must be an RSA or elliptic-curve key of use, with a \"kid\" and, if any, an \"alg\" of it"
                )
            }
        }
        return keys
    }
}
