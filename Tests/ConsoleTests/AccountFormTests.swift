import API
import HTTPJSON
import Testing
import WebPages

@testable import Console

/// The forms by which accounts are found and listed.
struct AccountFormTests {
    @Test func `A term becomes the key of its kind`() {
        func key(_ kind: String, _ term: String) -> OperatorV1.FindAccountRequest.OneOf_By? {
            AccountSearchForm(kind: kind, term: term)?.key
        }
        let id = "0190163d-8694-739b-aea5-966c26f8ad90"
        #expect(key("phone", " +63 917 1234567") == .phoneNumber("+63 917 1234567"))
        #expect(key("id", id) == .userID(id) && key("name", "Maria S") == .namePrefix("Maria S"))
        #expect(key("device", id) == .sessionID(id) && key("device", "iPhone") == .deviceName("iPhone"))
        guard case .providerIdentity(let identity) = key("provider", "apple:00:1") else {
            Issue.record("no identity")
            return
        }
        #expect(identity.provider == "apple" && identity.subject == "00:1")
        for (kind, term) in [("all", "x"), ("name", ""), ("name", "  "), ("name", String(repeating: "a", count: 513))] {
            #expect(AccountSearchForm(kind: kind, term: term) == nil)
        }
    }

    @Test func `A filter of a query is a request, and the next page has it too`() throws {
        let fields = try FormFields(
            parsing: "blocked=yes&guest=no&imported=perhaps&provider=apple&since=2026-11-28&until=x&page=t%26".utf8
        )
        let filter = AccountListFilter(fields)
        let request = filter.request
        #expect(request.isBlocked && request.hasIsGuest && !request.isGuest && !request.hasIsImported)
        #expect(request.provider == "apple" && request.pageToken == "t&" && request.createdBeforeMs == 0)
        #expect(request.createdFromMs == 1_795_824_000_000)
        let address = filter.address(page: "a&b=<c>")
        #expect(address.hasPrefix("/accounts?blocked=yes&") && address.hasSuffix("&page=a%26b%3D%3Cc%3E"))
        #expect(filter.form.text.contains("value=\"2026-11-28\""))
    }
}
