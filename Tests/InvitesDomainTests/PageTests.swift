import InvitesDomain
import Models
import Testing

struct PageTests {
    @Test(arguments: [(0, 50), (1, 1), (99, 99), (100, 100), (101, 100), (Int(Int32.max), 100)])
    func `A page's size has a default and a bound`(wanted: Int, size: Int) throws {
        #expect(try Page(size: wanted, after: nil).size == size)
    }

    @Test(arguments: [-1, Int(Int32.min), .min])
    func `A negative size is refused`(size: Int) {
        #expect(throws: InvitesError.pageSizeInvalid) { try Page(size: size, after: nil) }
    }
}
