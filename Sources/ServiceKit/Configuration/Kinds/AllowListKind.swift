import RPC

extension ConfigurationKey where Value == PeerAllowList? {
    /// Rules that say which peers may call what, as `PeerAllowList` reads them: in the value, or in the file that
    /// `NAME_FILE` names.
    public static func peerAllowList(_ name: String, help: String) -> ConfigurationKey {
        ConfigurationKey(name, kind: "rules", defaultText: nil, isRequired: false, takesFile: true, help: help) {
            (input) throws(ConfigurationProblem) in
            guard let text = try textOrFile(name, input)?.text else { return nil }
            do throws(PeerAllowList.Fault) {
                return try PeerAllowList(parsing: text)
            } catch {
                throw ConfigurationProblem("cannot be used: \(error.description)")
            }
        }
    }
}
