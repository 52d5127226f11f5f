import Testing

@testable import ServiceKit

struct PortHolderTests {
    @Test func `Reads listening sockets, and only those, from the kernel's table`() {
        let head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
        let rows = """
               0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0 100
               1: 0100007F:1F90 0100007F:C000 01 00000000:00000000 00:00000000 00000000     0        0 4712 1 0 100
               2: 0100007F:1F91 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4713 1 0 100

            """
        #expect(PortHolder.listeners(in: head + rows, port: 8080) == ["4711"])
        #expect(PortHolder.listeners(in: "", port: 8080).isEmpty)
    }
}
