extension ConfigurationKey where Value == [IPNetwork] {
    /// The most networks that a list holds: each is looked at for each request.
    public static var networksMax: Int { 64 }

    /// Networks with commas between; none if it is left out.
    public static func networks(_ name: String, help: String) -> ConfigurationKey {
        ConfigurationKey(
            name,
            kind: "networks such as 10.0.0.0/8 or ::1",
            defaultText: nil,
            isRequired: false,
            help: help
        ) { (input) throws(ConfigurationProblem) in
            guard let text = input.text(name) else { return [] }
            var networks: [IPNetwork] = []
            for piece in text.split(separator: ",", omittingEmptySubsequences: false) {
                let item = String(piece.trimmingSpaces)
                guard let network = IPNetwork(item) else {
                    throw ConfigurationProblem(
                        "has \(quoted(item)), which is no network such as 10.0.0.0/8 or 2001:db8::/32: no bits may be "
                            + "set after the prefix"
                    )
                }
                guard networks.count < networksMax else {
                    throw ConfigurationProblem("has more than \(networksMax) networks")
                }
                networks.append(network)
            }
            return networks
        }
    }
}
