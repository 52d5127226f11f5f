import API
import HTTPJSON
import SwiftProtobuf
import WebPages

/// `GET /disputes`: the phone numbers that two accounts have proven.
enum DisputesPage {
    static let path = "/disputes"
    private static let shown: Int32 = 100

    static func routes(_ console: Console) -> [Route] {
        [
            console.page(path, .disputes) { visit in
                let answer = try await visit.calls.client.listPhoneDisputes(
                    .with { $0.pageSize = shown },
                    options: visit.calls.options
                )
                let rows = answer.disputes.map { dispute -> [HTML] in
                    [
                        ConsoleText.time(milliseconds: dispute.createdAtMs), "\(Masking.phone(dispute.phoneNumber))",
                        ConsoleText.account(dispute.holderUserID), ConsoleText.account(dispute.claimantUserID),
                        "\(dispute.proof)",
                    ]
                }
                let table: HTML =
                    rows.isEmpty
                    ? "<p>Nothing is disputed.</p>\n"
                    : ConsoleText.table(
                        "Disputed numbers, oldest first, at most \(shown)",
                        ["Since", "Number", "Has it", "Has proven it too", "By"],
                        rows
                    )
                let content: HTML = """
                    <p>Who has a number keeps it until it is released. Then its owner proves it again by the next sign-in.</p>
                    \(table)
                    """
                return ConsolePage(title: "Disputes", content: content, tab: .disputes).response(for: visit)
            }
        ]
    }
}
