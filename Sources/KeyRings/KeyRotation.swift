import ServiceKit

/// Replaces keys by new ones in steps that nobody notices: the next key is published before it is used, and one that was used
/// is kept until nothing that it made is alive.
///
/// Each run does at most one step of a kind, and only when enough time has passed since the one before: it may be run as often
/// as one likes, by two at once, and again after it was killed.
///
/// Where services have keys that are derived from identity's, a step writes theirs first and identity's last: whoever verifies
/// knows a key before somebody makes something with it. Each run begins by making theirs what follows from identity's, so a
/// run may be killed between any two files.
public struct KeyRotation: Sendable {
    /// How long the steps wait for one another.
    public struct Rules: Sendable, Hashable {
        /// How long a changed folder takes to be read by everybody who uses it.
        public var spreadSeconds: Int64 = 60
        /// How long a session may live.
        public var sessionSeconds: Int64 = 180 * 86_400
        /// How long a key is used before another one is made; nil for an hour, which keeps two runs in a row from being two
        /// rotations.
        public var everySeconds: Int64 = 3_600
        /// Whether a published key is used now, whoever may not have read it yet.
        public var skipsWait = false

        /// What is right for a folder that the programs read themselves.
        public init() {}
    }

    /// A step.
    public enum Step: Sendable, Hashable {
        /// A next key was made and is published from now on.
        case published(id: String)
        /// The next key is used from now on, and the one before only verifies.
        case promoted(id: String, retired: String)
        /// A retired key is gone: nothing that it made is alive.
        case forgotten(id: String)
        /// A new key is used from now on, and all others are gone with what they made.
        case replaced(id: String, gone: [String])
    }

    /// What may be done next.
    public enum Following: Sendable, Hashable {
        /// A next key is made.
        case publish
        /// The next key is used.
        case promote
        /// The oldest retired key goes.
        case forget
    }

    /// What a run did, and what may follow.
    public struct Outcome: Sendable {
        /// The step; nil if it was too early for one.
        public let step: Step?
        /// The keys after it.
        public let ring: KeyRing
        /// What may follow.
        public let following: Following
        /// When, in Unix seconds.
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

    /// Puts a new key in the place of all others, at once: for keys that somebody else has. What they made is worth nothing
    /// from then on. Keys that open what is kept stay, retired, until their time is over.
    ///
    /// Identity's ring is written first, unlike in a step: no order spares the calls until all have read their folders, and a
    /// run that is killed between the files is then finished by the next one, and not undone.
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
                "has \(KeyRing.keysMax) keys, and what they keep would be lost with one; try again when one has gone"
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

    /// The keys of a kind and what may follow; changes nothing.
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

    /// What may be done with a ring first, and when.
    private func following(_ ring: KeyRing, _ kind: KeyKind) -> (Following, Int64) {
        let forget = ring.retired.last.map { $0.sinceSeconds + keptSeconds(kind) }
        if let next = ring.next {
            let wait = rules.skipsWait ? 0 : rules.spreadSeconds + kind.cachedSeconds
            let promote = next.sinceSeconds + wait
            if let forget, forget < promote { return (.forget, forget) }
            return (.promote, promote)
        }
        let publish = ring.current.sinceSeconds + rules.everySeconds
        // Where there is no room for another key, one has to go first.
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

    /// For how long a retired key stays: as long as the longest-lived that it made, the last of which a replica made that had
    /// not read the folder again.
    private func keptSeconds(_ kind: KeyKind) -> Int64 {
        switch kind.lifetime {
        case .seconds(let seconds): seconds + rules.spreadSeconds
        case .session: rules.sessionSeconds + rules.spreadSeconds
        }
    }
}
