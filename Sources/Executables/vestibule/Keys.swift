import ArgumentParser
import FoundationEssentials
import Glibc
import KeyRings
import ServiceKit

/// `vestibule keys`: a deployment's own keys.
struct Keys: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Rotate a deployment's own keys step by step, and show their states.",
        subcommands: [RotateKeys.self, ListKeys.self]
    )
}

/// Does one step of a rotation.
struct RotateKeys: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Do the next step of a key rotation, if it is time for it.",
        discussion: """
            A rotation has three steps, and a run does at most one for each kind of keys: it publishes a next key; \
            it makes that key current, once all programs have it; it deletes the former key, once all its tokens \
            have expired. A run that is too early changes nothing and prints when the next step is possible, so it \
            can be run every minute; with --every 90d that is a rotation each 90 days. After a run was killed, run \
            it again.

            Programs read their folders again every few seconds and at SIGHUP. Before the first rotation all \
            replicas of identity must use the folder (VESTIBULE_IDENTITY_KEYS_FOLDER): a replica with other keys \
            rejects the tokens of these. The keys of profile and invites in profile-keys and invites-keys are \
            derived from identity's keys of proofs and cursors, and written with them; each run repairs them.

            --leaked is for stolen keys: it immediately replaces all keys of that kind by a new one. For signing \
            keys, apps have to refresh; for refresh keys, all users have to sign in again; for keys of proofs, calls \
            for users fail with 503 until all programs have read their folders, up to five seconds; for keys of \
            cursors, lists and streams start over. A leaked vault key is no longer used for sealing, but stays until \
            its time is over: identity needs it to seal its data again.
            """
    )

    @OptionGroup var place: KeysPlace
    @Option(help: "How long a key is used before a rotation begins, such as 90d.")
    var every = "1h"
    @Flag(help: "Let the next key sign tokens now, even if not all services have read it.")
    var atOnce = false
    @Flag(help: "Replace all keys by a new one now, with --confirm: their tokens become invalid.")
    var leaked = false
    @Flag(help: "Confirm --leaked. It can't be undone.")
    var confirm = false

    func validate() throws {
        try place.validate()
        _ = try seconds(of: every, "--every")
        if leaked, place.kinds.isEmpty { throw ValidationError("--leaked needs the kind of keys that leaked") }
        if leaked, !confirm { throw ValidationError("--leaked makes all tokens of these keys invalid; add --confirm") }
    }

    func run() {
        do {
            let now = Int64(time(nil))
            var rules = try place.rules()
            rules.everySeconds = try seconds(of: every, "--every")
            rules.skipsWait = atOnce
            let rotation = KeyRotation(folders: place.folders, rules: rules)
            for kind in try place.chosenKinds() {
                let outcome =
                    leaked
                    ? try rotation.replaceAll(kind, nowSeconds: now) : try rotation.step(kind, nowSeconds: now)
                print("\(kind.name): \(outcome.told(nowSeconds: now))")
            }
        } catch {
            Program.end(error, program: "vestibule keys rotate")
        }
    }
}

/// Prints the states of all keys.
struct ListKeys: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Show the keys and their states, and when the next step of a rotation is possible.",
        discussion: "Shows the ids of keys and never a key. A signing key's id is its `kid`."
    )

    @OptionGroup var place: KeysPlace

    func validate() throws { try place.validate() }

    func run() {
        do {
            let rotation = KeyRotation(folders: place.folders, rules: try place.rules())
            for kind in try place.chosenKinds() {
                let outcome = try rotation.look(kind)
                for key in outcome.ring.keys {
                    print("\(kind.name)  \(key.state.rawValue)  \(key.id)  since \(utc(key.sinceSeconds))")
                }
                print("\(kind.name): \(outcome.followingTold(nowSeconds: Int64(time(nil))))")
            }
        } catch {
            Program.end(error, program: "vestibule keys list")
        }
    }
}

/// The keys, and the waiting times between the steps of a rotation.
struct KeysPlace: ParsableArguments {
    private static let sessionLifetime = "VESTIBULE_IDENTITY_SESSION_LIFETIME"

    @Argument(help: "The kinds of keys: \(KeyKind.all.map(\.name).joined(separator: ", ")). All, if none is named.")
    var kinds: [String] = []
    @Option(
        help:
            "The folder that `vestibule init` made; the keys are in its folders `keys`, `profile-keys` and `invites-keys`."
    )
    var folder = "docker/secrets"
    @Option(help: "How long a changed folder takes until every replica has read it.")
    var spread = "1m"
    @Option(help: "The lifetime of sessions; by default that of \(Self.sessionLifetime), or 180d.")
    var sessionLifetime: String?

    /// The folders of the keys.
    var folders: KeyFolders { KeyFolders(secrets: folder) }

    func validate() throws {
        _ = try chosenKinds()
        _ = try rules()
    }

    /// The kinds in the arguments, or all.
    func chosenKinds() throws -> [KeyKind] {
        if kinds.isEmpty { return KeyKind.all }
        return try kinds.map { name in
            guard let kind = KeyKind.named(name) else {
                let known = KeyKind.all.map(\.name).joined(separator: ", ")
                throw ValidationError("unknown kind of keys \(name); expected \(known)")
            }
            return kind
        }
    }

    /// The waiting times.
    func rules() throws -> KeyRotation.Rules {
        var rules = KeyRotation.Rules()
        rules.spreadSeconds = try seconds(of: spread, "--spread")
        let configured = ProcessInfo.processInfo.environment[Self.sessionLifetime].flatMap { $0.isEmpty ? nil : $0 }
        if let text = sessionLifetime {
            rules.sessionSeconds = try seconds(of: text, "--session-lifetime")
        } else if let configured {
            rules.sessionSeconds = try seconds(of: configured, Self.sessionLifetime)
        }
        return rules
    }
}

extension KeyRotation.Outcome {
    /// The step that was done, and the next possible one.
    fileprivate func told(nowSeconds: Int64) -> String {
        let following = followingTold(nowSeconds: nowSeconds)
        let done: String? =
            switch step {
            case nil: nil
            case .published(let id): "\(id) is published"
            case .promoted(let id, let retired): "\(id) is used from now on; \(retired) only verifies"
            case .forgotten(let id): "\(id) is removed"
            case .replaced(let id, let gone):
                "\(id) is used from now on; removed, so that their tokens are invalid: \(gone.joined(separator: ", "))"
            }
        return done.map { "\($0); \(following)" } ?? "nothing to do; \(following)"
    }

    /// The next possible step, and when.
    fileprivate func followingTold(nowSeconds: Int64) -> String {
        let what =
            switch following {
            case .publish: "a next key may be published"
            case .promote: "the next key may be used"
            case .forget: "the oldest retired key may be removed"
            }
        return followsAtSeconds <= nowSeconds ? "\(what) now" : "\(what) from \(utc(followsAtSeconds))"
    }
}

/// The seconds of a duration such as 90d.
private func seconds(of text: String, _ name: String) throws -> Int64 {
    guard let duration = DurationText.parse(text) else {
        throw ValidationError("\(name) must be a duration such as 60s, 1h or 90d")
    }
    return duration.components.seconds
}

/// A time for people and scripts: RFC 3339, UTC.
private func utc(_ seconds: Int64) -> String {
    var time = time_t(seconds)
    var parts = tm()
    gmtime_r(&time, &parts)
    var text = [CChar](repeating: 0, count: 32)
    strftime(&text, text.count, "%Y-%m-%dT%H:%M:%SZ", &parts)
    return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
}
