#if canImport(Security)
import Foundation
import Security

/// Keeps sessions in the Keychain of this device, readable after its first unlock: for apps.
///
/// An app and its extensions share a session by an access group of the Keychain and an app group, whose container has the lock. An app
/// that was removed and installed again begins signed out, although the Keychain keeps its items.
public struct KeychainStore: SessionStore {
    private let service: String
    private let accessGroup: String?
    private let files: URL

    /// A store. With an access group alone, or an app group that the app isn't entitled to, the program ends here: without a common lock
    /// its processes would sign each other out.
    ///
    /// - Parameters:
    ///   - service: The name of the items.
    ///   - accessGroup: The Keychain access group that the app shares with its extensions; the app's own if absent.
    ///   - appGroup: The app group that it shares with them, such as `group.com.example.app`; needed with an access group.
    public init(
        service: String = Bundle.main.bundleIdentifier ?? "vestibule",
        accessGroup: String? = nil,
        appGroup: String? = nil
    ) {
        precondition(accessGroup == nil || appGroup != nil, "A Keychain access group needs an app group for its lock")
        self.service = service
        self.accessGroup = accessGroup
        // Not Caches: the system empties that.
        var folder = URL.applicationSupportDirectory
        if let appGroup {
            guard let container = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: appGroup)
            else { preconditionFailure("The app has no entitlement for the app group \(appGroup)") }
            folder = container
        }
        files = folder.appending(path: "Vestibule", directoryHint: .isDirectory)
    }

    /// The value of a key; nil if there is none.
    public func read(_ key: String) throws -> Data? {
        // What was kept before the app was installed is another installation's.
        guard FileManager.default.fileExists(atPath: marker(key).path) else { return nil }
        var query = item(key)
        query[kSecReturnData as String] = true
        query[kSecMatchLimit as String] = kSecMatchLimitOne
        var found: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &found)
        if status == errSecItemNotFound { return nil }
        guard status == errSecSuccess else { throw StoreFailure(status) }
        return found as? Data
    }

    /// Replaces the value of a key, as a whole.
    public func write(_ value: Data, _ key: String) throws {
        let change = [kSecValueData as String: value]
        var status = SecItemUpdate(item(key) as CFDictionary, change as CFDictionary)
        if status == errSecItemNotFound {
            var new = item(key)
            new[kSecValueData as String] = value
            new[kSecAttrAccessible as String] = kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
            status = SecItemAdd(new as CFDictionary, nil)
        }
        guard status == errSecSuccess else { throw StoreFailure(status) }
    }

    /// Removes the value of a key.
    public func remove(_ key: String) throws {
        let status = SecItemDelete(item(key) as CFDictionary)
        guard status == errSecSuccess || status == errSecItemNotFound else { throw StoreFailure(status) }
    }

    /// Does `body` while nobody else holds the lock of a key.
    public func withLock<Result: Sendable>(
        _ key: String,
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
        return try await BackgroundActivity.run {
            let lock = try await FileLock(file(key, "lock"))
            defer { lock.free() }
            try beginInstallation(key)
            return try await body()
        }
    }

    /// Removes what another installation has left, once and under the lock. The marker is made last, so that nobody reads it before.
    private func beginInstallation(_ key: String) throws {
        let marker = marker(key)
        guard !FileManager.default.fileExists(atPath: marker.path) else { return }
        try remove(key)
        try Data().write(to: marker, options: .atomic)
    }

    private func marker(_ key: String) -> URL { file(key, "installed") }

    private func file(_ key: String, _ ending: String) -> URL {
        files.appending(path: "\(key).\(ending)", directoryHint: .notDirectory)
    }

    private func item(_ key: String) -> [String: Any] {
        var item: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service,
            kSecAttrAccount as String: key, kSecUseDataProtectionKeychain as String: true,
        ]
        if let accessGroup { item[kSecAttrAccessGroup as String] = accessGroup }
        return item
    }
}
#endif
