import API
import HTTPJSON
import HTTPTypes
import SwiftProtobuf
import WebPages

/// Sign-ins on other devices since this one signed in, and the notice about them on the account's page: a user who did not sign in there
/// learns of it, with what to do. It goes when the user says that it was them, or after a week.
enum NewSignIns {
    static let seenPath = "\(AccountPage.path)/new-devices/seen"
    /// How long a new sign-in is shown, in seconds.
    static let shownSeconds: Int64 = 7 * 86_400
    /// How many devices the notice names.
    static let shownMax = 5
    private static let untilName = "until"

    /// A device on which the user's account was signed in to.
    struct Device: Sendable, Hashable {
        let name: String
        let signedInAt: Google_Protobuf_Timestamp
    }

    /// The button "It was me": the browser keeps until when the user has seen sign-ins.
    static func route(_ pages: AccountPages) -> Route {
        pages.form(seenPath) { visit, form in
            var response = AccountPages.seeOther(AccountPage.path)
            guard let until = Int64(form[untilName]), 0...WatchClock.nowSeconds * 1000 ~= until else { return response }
            response.headers[.setCookie] = visit.parts.pages.newDevicesCookie
                .setting("\(until)", maxAgeSeconds: shownSeconds)
            return response
        }
    }

    /// The devices of a list of sessions that the user of the current one may not know of, the newest first. Sessions that one sign-in opened,
    /// such as those of a browser and of its apps, are one device.
    ///
    /// - Parameters:
    ///   - seenMilliseconds: until when the user has seen sign-ins; 0 if they never said so.
    ///   - nowMilliseconds: the time.
    static func devices(
        _ sessions: [AppV1.Session],
        seenMilliseconds: Int64,
        nowMilliseconds: Int64
    ) -> [Device] {
        guard let current = sessions.first(where: \.isCurrent) else { return [] }
        let since = max(current.createdAt.milliseconds, seenMilliseconds, nowMilliseconds - shownSeconds * 1000)
        let devices = sessions.filter { !$0.isCurrent && $0.createdAt.milliseconds > since }
            .map { Device(name: $0.deviceName, signedInAt: $0.createdAt) }
        return Set(devices).sorted {
            ($1.signedInAt.milliseconds, $0.name) < ($0.signedInAt.milliseconds, $1.name)
        }
    }

    /// The notice; empty if there is nothing new.
    static func notice(_ sessions: [AppV1.Session], _ visit: AccountPages.Visit) -> String {
        let seen = Int64(visit.parts.pages.newDevicesCookie.value(visit.request)) ?? 0
        let devices = devices(sessions, seenMilliseconds: seen, nowMilliseconds: WatchClock.nowSeconds * 1000)
        guard let newest = devices.first else { return "" }
        let items = devices.prefix(shownMax).map { device in
            let name = device.name.isEmpty ? visit.text[.unnamedDevice] : device.name
            return "<li>\(visit.text.html(.newDeviceText, ["device": name])) \(visit.time(device.signedInAt))</li>"
        }
        let known = visit.button(
            seenPath,
            .newDeviceKnown,
            fields: [(untilName, "\(newest.signedInAt.milliseconds)")]
        )
        return """
            <div class="notice" role="status">
            <h2>\(visit.text.html(.newDeviceTitle))</h2>
            <ul class="plain">
            \(items.joined(separator: "\n"))
            </ul>
            <p>\(visit.text.html(.newDeviceAdvice))</p>
            <p>\(visit.link("#sessions", .newDeviceReview))</p>
            \(known)
            </div>
            """
    }
}

extension Google_Protobuf_Timestamp {
    /// Since 1970.
    fileprivate var milliseconds: Int64 {
        seconds.multipliedReportingOverflow(by: 1000).partialValue &+ Int64(nanos) / 1_000_000
    }
}
