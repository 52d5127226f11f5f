// What these are is in Apple's documentation.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
/// What the kit uses of Apple's Security, for a compiler that hasn't it: a Keychain of this process, and the time that the system gives.
@_exported import Dispatch
@_exported import Foundation

public typealias CFTypeRef = AnyObject
public typealias CFDictionary = [String: Any]
public typealias CFString = String

public let kSecAttrAccessGroup = "agrp"
public let kSecAttrAccessible = "pdmn"
public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly = "cku"
public let kSecAttrAccount = "acct"
public let kSecAttrService = "svce"
public let kSecClass = "class"
public let kSecClassGenericPassword = "genp"
public let kSecMatchLimit = "m_Limit"
public let kSecMatchLimitOne = "m_LimitOne"
public let kSecReturnData = "r_Data"
public let kSecUseDataProtectionKeychain = "nleg"
public let kSecValueData = "v_Data"
public let errSecItemNotFound: Int32 = -25300
public let errSecSuccess: Int32 = 0

/// The Keychain, which outlives installations of an app.
public enum Keychain {
    private static let lock = NSLock()
    // Guarded by `lock`.
    nonisolated(unsafe) private static var items: [String: Data] = [:]

    public static subscript(item: CFDictionary) -> Data? {
        get { lock.withLock { items[name(item)] } }
        set { lock.withLock { items[name(item)] = newValue } }
    }

    private static func name(_ item: CFDictionary) -> String {
        "\(item[kSecAttrService] ?? "")/\(item[kSecAttrAccount] ?? "")"
    }
}

// swift-format-ignore: AlwaysUseLowerCamelCase
public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> Int32 {
    guard let data = Keychain[query] else { return errSecItemNotFound }
    result?.pointee = NSData(data: data)
    return errSecSuccess
}

// swift-format-ignore: AlwaysUseLowerCamelCase
public func SecItemUpdate(_ query: CFDictionary, _ change: CFDictionary) -> Int32 {
    guard Keychain[query] != nil else { return errSecItemNotFound }
    Keychain[query] = change[kSecValueData] as? Data
    return errSecSuccess
}

// swift-format-ignore: AlwaysUseLowerCamelCase
public func SecItemAdd(_ item: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> Int32 {
    Keychain[item] = item[kSecValueData] as? Data
    return errSecSuccess
}

// swift-format-ignore: AlwaysUseLowerCamelCase
public func SecItemDelete(_ query: CFDictionary) -> Int32 {
    guard Keychain[query] != nil else { return errSecItemNotFound }
    Keychain[query] = nil
    return errSecSuccess
}

/// The time that the system gives to an app that goes to the background.
public enum BackgroundTime {
    private static let lock = NSLock()
    // The test sets it while no lock is wanted.
    nonisolated(unsafe) public static var isGranted = true
    // Guarded by `lock`.
    nonisolated(unsafe) private static var blocks: [@Sendable (Bool) -> Void] = []

    static func begin(_ block: @escaping @Sendable (Bool) -> Void) {
        lock.withLock { blocks.append(block) }
        let isExpired = !isGranted
        Thread.detachNewThread { block(isExpired) }
    }

    /// Says that the time of all activities is over; returns when they have ended, as the system suspends the app then.
    public static func expire() {
        let blocks = lock.withLock { self.blocks }
        for block in blocks { block(true) }
    }
}

extension ProcessInfo {
    public func performExpiringActivity(withReason reason: String, using block: @escaping @Sendable (Bool) -> Void) {
        BackgroundTime.begin(block)
    }
}

extension FileManager {
    public func containerURL(forSecurityApplicationGroupIdentifier group: String) -> URL? {
        ProcessInfo.processInfo.environment["CONTAINER"].map { URL(filePath: $0, directoryHint: .isDirectory) }
    }
}

extension URL {
    public static var applicationSupportDirectory: URL { URL(filePath: "/tmp/support", directoryHint: .isDirectory) }
}
