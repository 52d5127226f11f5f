/// What a list of sessions calls a browser, such as "Safari on iPhone".
enum DeviceName {
    /// How much of a User-Agent field is read, in bytes.
    static let bytesMax = 512

    /// The browser and the device of a User-Agent field, in words of ours.
    static func of(userAgent: String) -> String {
        let text = String(decoding: userAgent.utf8.prefix(bytesMax), as: UTF8.self)
        let browser = first(of: browsers, in: text) ?? "Browser"
        guard let device = first(of: devices, in: text) else { return browser }
        return "\(browser) on \(device)"
    }

    private static func first(of words: [(mark: String, name: String)], in text: String) -> String? {
        words.first { text.contains($0.mark) }?.name
    }

    /// Most browsers name others, too: the more particular mark comes first.
    private static let browsers = [
        ("Edg/", "Edge"), ("EdgA/", "Edge"), ("EdgiOS/", "Edge"), ("OPR/", "Opera"),
        ("SamsungBrowser/", "Samsung Internet"), ("Firefox/", "Firefox"), ("FxiOS/", "Firefox"), ("Chrome/", "Chrome"),
        ("CriOS/", "Chrome"), ("Safari/", "Safari"),
    ].map { (mark: $0.0, name: $0.1) }

    private static let devices = [
        ("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"), ("Windows", "Windows"), ("CrOS", "Chromebook"),
        ("Macintosh", "Mac"), ("Linux", "Linux"),
    ].map { (mark: $0.0, name: $0.1) }
}
