import API
import Foundation
import ServiceKit
import SwiftProtobuf

extension OperatorV1.OperatorAccount {
    /// For people, a line each.
    var lines: [String] {
        var lines = [
            "account       \(userID)", "number        \(accountNumber)", "created       \(createdAtMs.time)",
            "blocked       \(hasBlock ? "since \(block.sinceMs.time): \(block.reason)" : "no")",
            "live sessions \(liveSessions)",
        ]
        for identity in identities { lines.append("identity      \(identity.line)") }
        guard hasProfile else { return lines + ["profile       cannot be asked now"] }
        lines += [
            "name          \(profile.displayName.orNone)", "username      \(profile.username.orNone)",
            "phone         \(profile.phoneNumber.orNone)",
        ]
        return lines
    }
}

extension OperatorV1.OperatorIdentity {
    fileprivate var line: String {
        var words = ["\(provider) \(subject.printable)"]
        if isPrivateEmail {
            words.append("a relay address")
        } else if !email.isEmpty {
            words.append("\(email.printable) (\(emailVerified ? "verified" : "not verified"))")
        }
        words.append("last sign-in \(lastSignInAtMs.time)")
        if disabled { words.append("disabled by the provider") }
        return words.joined(separator: ", ")
    }
}

extension OperatorV1.ListedAccount {
    /// For people.
    var line: String {
        var words = [
            createdAtMs.time, userID, "\(accountNumber)", providers.isEmpty ? "-" : providers.joined(separator: ","),
        ]
        if hasBlock { words.append("blocked:\(block.reason)") }
        if isImported { words.append("imported") }
        if isGuest { words.append("guest") }
        return words.joined(separator: " ")
    }
}

extension OperatorV1.OperatorSession {
    /// For people.
    var line: String {
        let state = isLive ? "live" : endReason.isEmpty ? "over" : "ended:\(endReason)"
        return "\(sessionID) \(state) \(provider) began \(createdAtMs.time), last used \(lastUsedAtMs.time), "
            + "device \(deviceName.orNone)"
    }
}

extension OperatorV1.OperatorGroup {
    /// For people.
    var line: String { "\(groupID) \(role) created \(createdAtMs.time) \(name.printable)" }
}

extension OperatorV1.PhoneDispute {
    /// For people.
    var line: String {
        "\(createdAtMs.time) \(phoneNumber.printable) is account \(holderUserID)'s, proven for account \(claimantUserID) by \(proof)"
    }
}

extension OperatorV1.SecurityEvent {
    /// For people.
    var line: String {
        "\(occurredAtMs.time) \(kind) \(sessionID.isEmpty ? "-" : sessionID) \(detailsJson.printable)"
    }
}

extension SwiftProtobuf.Message {
    /// For programs, on one line, with the names of the proto.
    func json() throws -> String {
        var options = JSONEncodingOptions()
        options.alwaysPrintInt64sAsNumbers = true
        options.preserveProtoFieldNames = true
        return try jsonString(options: options)
    }
}

extension Int64 {
    /// Unix milliseconds as people read them.
    fileprivate var time: String { Date(timeIntervalSince1970: Double(self) / 1000).formatted(.iso8601) }
}

extension String {
    fileprivate var orNone: String { isEmpty ? "none" : printable }
}
