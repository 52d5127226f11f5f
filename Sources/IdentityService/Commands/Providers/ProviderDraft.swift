import Glibc
import JOSE
import ServiceKit

/// A new entry of the providers file.
struct ProviderDraft {
    private typealias Flag = ProviderKind.Flag

    let kind: ProviderKind
    /// The providers file, from whose folder names of files count.
    let path: String

    /// The provider's name; empty while there is none.
    func name(_ answers: CommandAnswers) -> String { kind.name ?? answers[Flag.name] ?? "" }

    /// The secret that was typed, with the file that it belongs into.
    func typedSecret(_ answers: CommandAnswers) -> (path: String, secret: Secret)? {
        answers.typedSecrets.values.first.map { (folder + secretName(answers), $0) }
    }

    /// The entry, as far as it is known.
    ///
    /// - Parameter discovered: what the provider says of itself.
    func entry(_ answers: CommandAnswers, discovered: JSONObject = [:]) throws(CommandError) -> JSONObject {
        let name = name(answers)
        if kind == .oidc, ProviderKind(rawValue: name) != nil {
            throw CommandError("\"name\" must not be \(name)", isUsage: true)
        }
        var entry: JSONObject = ["name": .string(name)]
        for member in discovered.members { entry[member.name] = member.value }
        switch kind {
        case .apple:
            let key = appleKey(answers)
            entry["audiences"] = .array(
                answers.all(Flag.bundleID).map { ["id": .string($0), "apple_key": .object(key)] }
                    + answers.all(Flag.servicesID).map {
                        ["id": .string($0), "kind": "services", "apple_key": .object(key)]
                    }
            )
        case .google:
            let web = answers[Flag.webClientID].map { audience($0, kind: "web", secret: Flag.secret, answers) }
            let native = answers.all(Flag.nativeClientID).map { JSONValue.object(["id": .string($0)]) }
            entry["audiences"] = .array((web.map { [$0] } ?? []) + native)
        case .facebook:
            // Its ID tokens (Limited Login) sign in as well.
            entry["access_tokens"] = "facebook"
            entry["audiences"] = .array(
                answers[Flag.appID].map { [audience($0, kind: nil, secret: Flag.appSecret, answers)] } ?? []
            )
        case .oidc:
            entry["issuers"] = answers[Flag.issuer].map { [.string($0)] }
            entry["audiences"] = .array(
                answers[Flag.clientID].map { [audience($0, kind: "web", secret: Flag.secret, answers)] } ?? []
            )
        }
        for member in try SetMembers.read(answers, id: "name") { entry[member.name] = member.value }
        return entry
    }

    private func audience(_ id: String, kind: String?, secret: String, _ answers: CommandAnswers) -> JSONValue {
        var audience: JSONObject = ["id": .string(id)]
        audience["kind"] = kind.map { .string($0) }
        if answers.typedSecrets[secret] != nil {
            audience["client_secret_file"] = .string(secretName(answers))
        } else {
            audience["client_secret_file"] = answers[secret].map { .string(fromFolder($0)) }
        }
        return .object(audience)
    }

    private func appleKey(_ answers: CommandAnswers) -> JSONObject {
        var key = JSONObject()
        key["team_id"] = answers[Flag.teamID].map { .string($0) }
        key["key_id"] = answers[Flag.keyID].map { .string($0) }
        key["private_key_file"] = answers[Flag.privateKey].map { .string(fromFolder($0)) }
        return key
    }

    private func secretName(_ answers: CommandAnswers) -> String { "\(name(answers))-client-secret" }

    /// The folder of the providers file with a slash behind it, as identity puts it before relative names.
    private var folder: String { path.lastIndex(of: "/").map { String(path[...$0]) } ?? "" }

    /// The name of a file as the providers file has it: relative to its folder if it is in there, so that both can be mounted elsewhere;
    /// else absolute. The operator's is relative to the working directory.
    private func fromFolder(_ name: String) -> String {
        // The judge says what is wrong with a file that isn't there.
        guard let place = Self.resolved(FileBytes.folder(of: name)), let own = Self.resolved(FileBytes.folder(of: path))
        else { return name }
        // Only its folder is resolved: a link to the file itself may lead elsewhere later.
        let file = (place == "/" ? "" : place) + "/" + (name.split(separator: "/").last ?? "")
        let prefix = own == "/" ? "/" : own + "/"
        return file.hasPrefix(prefix) ? String(file.dropFirst(prefix.count)) : file
    }

    private static func resolved(_ folder: String) -> String? {
        guard let resolved = realpath(folder, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
