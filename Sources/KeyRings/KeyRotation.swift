import ServiceKit

/// Replaces keys step by step without any rejected token: the next key is published before it is used, and a former key is kept
/// until all its tokens have expired.
///
/// Each run does at most one step of a kind, and only if enough time has passed since the last step. So it may be run any number
/// of times, concurrently, and again after it was killed.
///
/// If services have keys derived from identity's, a step writes theirs first and identity's last: a service that verifies tokens
/// has a key before identity makes tokens with it. Each run first makes the services' rings match identity's, so a run may be
/// killed between any two files.
public struct KeyRotation: Sendable {
    /// The waiting times between steps.
    public struct Rules: Sendable, Hashable {
        /// How long it takes until all programs have read a changed folder.
        public var spreadSeconds: Int64 = 60
        /// How long a session may live.
        public var sessionSeconds: Int64 = 180 * 86_400
        /// How long a key is used before the next one is made. The default, an hour, keeps two runs in a row from making two
        /// rotations.
        public var everySeconds: Int64 = 3_600
        /// Whether a published key is used now, even if a program may not have read it yet.
        public var skipsWait = false

        /// The defaults, for a folder that the programs read themselves.
        public init() {}
    }

    /// A step.
    public enum Step: Sendable, Hashable {
        /// A next key was made and published.
        case published(id: String)
        /// The next key became current, and the former one only verifies.
        case promoted(id: String, retired: String)
        /// A retired key was removed: all its tokens have expired.
        case forgotten(id: String)
        /// A new key became current, and all others were removed: their tokens are invalid.
        case replaced(id: String, gone: [String])
    }

    /// The next possible step.
    public enum Following: Sendable, Hashable {
        /// A next key is made.
        case publish
        /// The next key becomes current.
        case promote
        /// The oldest retired key is removed.
        case forget
    }

    /// What a run did, and the next possible step.
    public struct Outcome: Sendable {
        /// The step that was done; nil if it was too early.
        public let step: Step?
        /// The keys after it.
        public let ring: KeyRing
        /// The next possible step.
        public let following: Following
        /// When it is possible, in Unix seconds.
        public let followsAtSeconds: Int64
    }

    private let folders: KeyFolders
    private let rules: Rules

    /// A rotation of the keys in a folder of secrets.
    public init(folders: KeyFolders, rules: Rules = Rules()) {
        self.folders = folders
        self.rules = rules
    }

    /// Does the next step of a kind, if it is time for it.
    ///
    /// - Throws: `FileError` if the folder has no such keys, or can't be written.
    public func step(_ kind: KeyKind, nowSeconds: Int64) throws -> Outcome {
        try folders.own.locked {
            let ring = try folders.mend(kind, ring(kind), nowSeconds: nowSeconds).ring
            guard let (step, changed) = try next(ring, kind, nowSeconds: nowSeconds) else {
                return outcome(nil, ring, kind)
            }
            try folders.derive(kind, from: changed)
            try folders.own.replace(kind, with: changed)
            return outcome(step, changed, kind)
        }
    }

    /// Replaces all keys by a new one immediately: for keys that were stolen. All tokens of the old keys become invalid. Keys
    /// that data is sealed under stay, retired, until their time is over.
    ///
    /// Unlike in a step, identity's ring is written first. Calls fail in any order until all programs have read their folders,
    /// and with this order the next run completes a killed run instead of undoing it.
    ///
    /// - Throws: `FileError` if the folder has no such keys, or can't be written.
    public func replaceAll(_ kind: KeyKind, nowSeconds: Int64) throws -> Outcome {
        try folders.own.locked {
            if kind.opensWhatIsKept { return try replaceCurrent(kind, nowSeconds: nowSeconds) }
            let gone = try ring(kind).keys.map(\.id)
            let new = try KeyRing.new(kind, nowSeconds: nowSeconds)
            try folders.own.replace(kind, with: new)
            try folders.derive(kind, from: new)
            return outcome(.replaced(id: new.current.id, gone: gone), new, kind)
        }
    }

    private func replaceCurrent(_ kind: KeyKind, nowSeconds: Int64) throws -> Outcome {
        let ring = try ring(kind)
        guard ring.keys.count < KeyRing.keysMax else {
            throw FileError(
                "has \(KeyRing.keysMax) keys, and data is sealed under each; try again after one is removed"
            )
        }
        let new = try KeyRing.Key.new(kind, .current, nowSeconds: nowSeconds)
        let others = ring.keys.map { other in
            var other = other
            if other.state != .retired { (other.state, other.sinceSeconds) = (.retired, nowSeconds) }
            return other
        }
        let changed = try KeyRing(kind: kind.name, keys: [new] + others)
        try folders.own.replace(kind, with: changed)
        return outcome(.promoted(id: new.id, retired: ring.current.id), changed, kind)
    }

    /// The keys of a kind and the next possible step; changes nothing.
    ///
    /// - Throws: `FileError` if the folder has no such keys.
    public func look(_ kind: KeyKind) throws -> Outcome { outcome(nil, try ring(kind), kind) }

    private func ring(_ kind: KeyKind) throws(FileError) -> KeyRing {
        guard let ring = try folders.own.read(kind) else {
            throw FileError("\(folders.own.file(kind)) is not there; `vestibule init` makes it")
        }
        return ring
    }

    private func outcome(_ step: Step?, _ ring: KeyRing, _ kind: KeyKind) -> Outcome {
        let (following, time) = following(ring, kind)
        return Outcome(step: step, ring: ring, following: following, followsAtSeconds: time)
    }

    /// The next possible step of a ring, and when.
    private func following(_ ring: KeyRing, _ kind: KeyKind) -> (Following, Int64) {
        let forget = ring.retired.last.map { $0.sinceSeconds + keptSeconds(kind) }
        if let next = ring.next {
            let wait = rules.skipsWait ? 0 : rules.spreadSeconds + kind.cachedSeconds
            let promote = next.sinceSeconds + wait
            if let forget, forget < promote { return (.forget, forget) }
            return (.promote, promote)
        }
        let publish = ring.current.sinceSeconds + rules.everySeconds
        // A full ring must lose a key before it gets another.
        if let forget, forget < publish || ring.keys.count == KeyRing.keysMax { return (.forget, forget) }
        return (.publish, publish)
    }

    private func next(_ ring: KeyRing, _ kind: KeyKind, nowSeconds: Int64) throws -> (Step, KeyRing)? {
        let (following, time) = following(ring, kind)
        guard time <= nowSeconds else { return nil }
        var keys = ring.keys
        switch following {
        case .publish:
            let key = try KeyRing.Key.new(kind, .next, nowSeconds: nowSeconds)
            return (.published(id: key.id), try KeyRing(kind: kind.name, keys: keys + [key]))
        case .promote:
            guard let index = keys.firstIndex(where: { $0.state == .next }) else { return nil }
            keys[0].state = .retired
            keys[0].sinceSeconds = nowSeconds
            keys[0].text = try kind.verifying(keys[0].text)
            keys[index].state = .current
            keys[index].sinceSeconds = nowSeconds
            return (
                .promoted(id: keys[index].id, retired: keys[0].id), try KeyRing(kind: kind.name, keys: keys)
            )
        case .forget:
            let key = keys.removeLast()
            return (.forgotten(id: key.id), try KeyRing(kind: kind.name, keys: keys))
        }
    }

    /// How long a retired key stays: the longest lifetime of its tokens, plus the time in which a replica that has not read
    /// the folder again still makes tokens.
    private func keptSeconds(_ kind: KeyKind) -> Int64 {
        switch kind.lifetime {
        case .seconds(let seconds): seconds + rules.spreadSeconds
        case .session: rules.sessionSeconds + rules.spreadSeconds
        }
    }
}
