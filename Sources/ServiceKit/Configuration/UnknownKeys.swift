/// Finds names that begin like keys and are none. Such a one is most likely misspelt, and what it was to change would stay
/// as it is without a word.
///
/// Each program answers for its own names, the shared ones, and those that are no program's: so each name of a file that
/// several programs read is looked at by the one that knows. A name of another program that is all but one which this
/// program reads too, such as VESTIBULE_IDENTITY_ADRESS in the gateway, is reported as well.
struct UnknownKeys {
    /// A longer name is reported without a suggestion: the search takes time with its length.
    static let lengthMax = 128
    /// The maximum of letters by which a name of another program differs from one that this program reads, to be reported.
    private static let distanceToOwnMax = 2

    private let program: String
    private let known: Set<String>
    private let candidates: [String]

    /// - Parameters:
    ///   - program: the one that reads them.
    ///   - known: all names that it reads, those of files of secrets included.
    init(program: String, known: Set<String>) {
        self.program = program
        self.known = known
        candidates = known.union(SharedKeys.all.map(\.name)).filter { $0.hasPrefix(ConfigurationNames.prefix) }.sorted()
    }

    /// The fault of a name in a file, which people write; nil if it is none of ours or in order.
    func fault(inFile name: String) -> ConfigurationError? {
        fault(name, place: "is in the file, but there is no such key")
    }

    /// The same for an environment, where orchestrators put names of their own that can look like keys.
    func fault(inEnvironment name: String, value: String) -> ConfigurationError? {
        if ConfigurationNames.tools.contains(name) || Self.isServiceLink(name, value: value) { return nil }
        return fault(name, place: "is in the environment, but there is no such key")
    }

    private func fault(_ name: String, place: String) -> ConfigurationError? {
        guard name.hasPrefix(ConfigurationNames.prefix), !known.contains(name) else { return nil }
        let near = nearest(to: name)
        if ConfigurationNames.isForeign(name, to: program) {
            guard let near, near.distance <= Self.distanceToOwnMax,
                ConfigurationNames.isForeign(near.name, to: program), known.contains(near.name)
            else { return nil }
        }
        let hint = near.map { "; did you mean \($0.name)?" } ?? ""
        return ConfigurationError(key: Self.printable(name), problem: place + hint)
    }

    /// The name that was most likely meant: the nearest one, if no more than a quarter of the letters differ.
    private func nearest(to name: String) -> (name: String, distance: Int)? {
        guard name.utf8.count <= Self.lengthMax else { return nil }
        let written = Array(name.utf8.dropFirst(ConfigurationNames.prefix.utf8.count))
        var best: (name: String, distance: Int)?
        for candidate in candidates {
            let letters = Array(candidate.utf8.dropFirst(ConfigurationNames.prefix.utf8.count))
            let distance = Self.distance(written, letters)
            guard distance <= max(2, letters.count / 4), distance < best?.distance ?? .max else { continue }
            best = (candidate, distance)
        }
        return best
    }

    /// How many letters must be put in, taken away, changed or swapped with their neighbour to make one text the other
    /// (the restricted Damerau–Levenshtein distance).
    static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var beforePrevious: [Int] = []
        var previous = Array(0...right.count)
        for row in left.indices {
            var current = [row + 1]
            for column in right.indices {
                var cost = previous[column] + (left[row] == right[column] ? 0 : 1)
                cost = min(cost, previous[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                    cost = min(cost, beforePrevious[column - 1] + 1)
                }
                current.append(cost)
            }
            (beforePrevious, previous) = (previous, current)
        }
        return previous[right.count]
    }

    /// Whether Kubernetes or Docker wrote it: they tell each container where a service named `vestibule-…` is, as
    /// `VESTIBULE_…_SERVICE_HOST`, `…_SERVICE_PORT`, `…_SERVICE_PORT_GRPC`, `…_PORT=tcp://…`, `…_PORT_7001_TCP_ADDR`.
    private static func isServiceLink(_ name: String, value: String) -> Bool {
        if name.hasSuffix("_SERVICE_HOST") || name.hasSuffix("_SERVICE_PORT") || name.contains("_SERVICE_PORT_") {
            return true
        }
        let protocols = ["TCP", "UDP", "SCTP"]
        if name.hasSuffix("_PORT"), protocols.contains(where: { value.hasPrefix($0.lowercased() + "://") }) {
            return true
        }
        var words = name.split(separator: "_", omittingEmptySubsequences: false)
        if let last = words.last, ["ADDR", "PORT", "PROTO"].contains(last) { words.removeLast() }
        guard let last = words.popLast(), protocols.contains(String(last)), let port = words.popLast() else {
            return false
        }
        return Int(port) != nil && words.last == "PORT"
    }

    /// A name as a line shows it: an environment may hold any bytes.
    private static func printable(_ name: String) -> String {
        String(
            decoding: name.utf8.prefix(lengthMax).map { (0x21...0x7E).contains($0) ? $0 : UInt8(ascii: "?") },
            as: UTF8.self
        )
    }
}
