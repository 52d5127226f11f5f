import InvitesDomain
import Models
import Testing

struct PageTests {
    @Test(arguments: [(0, 50), (1, 1), (99, 99), (100, 100), (101, 100), (Int(Int32.max), 100)])
    func `A page's size has a default and a bound`(wanted: Int, size: Int) throws {
        #expect(try Page(size: wanted, token: "", list: .groups).size == size)
    }

    @Test func `A negative size is refused`() {
        #expect(throws: InvitesFault.pageSizeInvalid) { try Page(size: -1, token: "", list: .groups) }
    }

    @Test func `A token brings back the place it was made for`() throws {
        let id = GroupID(high: 0x0190_163D_8694_739B, low: 5)
        let token = Page.token(after: Page.Cursor(id), in: .groups)
        let page = try Page(size: 10, token: token, list: .groups)
        #expect(page.after == Page.Cursor(id))
        #expect(try Page(size: 10, token: "", list: .groups).after == nil)
    }

    @Test func `A token of another list, cut or altered is refused`() throws {
        let token = Page.token(after: Page.Cursor(GroupID(high: 1, low: 2)), in: .groups)
        #expect(throws: InvitesFault.pageTokenInvalid) { try Page(size: 0, token: token, list: .members) }
        for length in 1..<token.count {
            #expect(throws: InvitesFault.pageTokenInvalid) {
                try Page(size: 0, token: String(token.prefix(length)), list: .groups)
            }
        }
        for wrong in [token + "0", "x", "1-" + String(repeating: "g", count: 32), String(repeating: "1", count: 9_999)]
        {
            #expect(throws: InvitesFault.pageTokenInvalid) { try Page(size: 0, token: wrong, list: .groups) }
        }
    }
}
