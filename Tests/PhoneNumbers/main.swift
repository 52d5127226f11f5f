// Reads lines of a default region, the region that the number should be of, and the number; prints what our code says of each: the
// fault, or the digits, the kind, and whether a policy of that region alone takes it.

/// All that a policy can allow, so that nothing is refused by it.
let kinds = Set(PhonePolicy.Kind.allCases)

func policy(_ region: String, _ kinds: Set<PhonePolicy.Kind>, only: String?) throws -> PhonePolicy {
    try PhonePolicy(defaultRegion: region, allowedKinds: kinds, allowedRegions: only.map { [$0] })
}

func answer(_ region: String, _ only: String, _ text: String) throws -> String {
    let number: PhoneNumber
    do {
        number = try PhoneNumber(text, policy: policy(region, kinds, only: nil))
    } catch let fault as PhoneNumber.Fault {
        return "\(fault)"
    }
    var kind = "none"
    for one in PhonePolicy.Kind.allCases {
        if (try? PhoneNumber(text, policy: policy(region, [one], only: nil))) == number { kind = one.rawValue }
    }
    // A region of no country can't be allowed by itself.
    let isOfRegion =
        only.count == 2 && (try? PhoneNumber(text, policy: policy(region, kinds, only: only))) == number
    return "\(number.digits) \(kind) \(isOfRegion)"
}

while let line = readLine() {
    let parts = line.split(separator: "\t", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
    print(try answer(parts[0], parts[1], parts[2]))
}
