import API
import HTTPJSON
import HTTPTypes
import RPC

/// `GET /my/groups/{group_id}/live`: server-sent events that say when the page of a group has changed, for its script. They are a
/// subscription as apps have (``GroupWatches``), and count as one.
enum GroupLive {
    /// How long a stream lasts, in seconds; the browser comes again then. As long as an access token may live: what ends a session is
    /// remembered for longer.
    private static let secondsMax: Int64 = 3_600

    static func route(_ pages: AccountPages) -> Route {
        Route(.get, "\(GroupPage.path)/live", isForOtherOrigins: false) { request, context in
            // No content has an EventSource stop, where a page would be an error in its console.
            guard let visit = try await pages.visit(request, context) else { return Response(status: .noContent) }
            let group: AppV1.Group
            let watch: GroupWatch
            do {
                group = try await GroupPage.group(visit)
                watch = try await visit.methods.watchGroups(
                    .init(),
                    visit.session.caller,
                    expiresAtSeconds: min(visit.session.expiresAtSeconds, WatchClock.nowSeconds + secondsMax)
                )
            } catch {
                let problem = Problem(answering: error)
                guard problem.status.code < 500 else { throw problem }
                return Response(status: .noContent)
            }
            return .events { stream in
                // What changed between the page and here is in the list that the script asks for now.
                try await stream.send("", event: "changed")
                do {
                    try await watch.follow { news in
                        if news.isReset || news.changes.contains(where: { $0.groupID == group.groupID }) {
                            try await stream.send("", event: "changed")
                        } else {
                            try await stream.sendComment()
                        }
                    }
                } catch is WatchEnd {
                    // The browser comes again by itself, and its session is looked at anew.
                }
            }
        }
    }
}
