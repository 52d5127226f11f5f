import Glibc
import RPCTransport
import Testing

@testable import ServiceKit

struct ListenFaultTests {
    private let address = HostPort(host: "192.0.2.1", port: 80)

    @Test(arguments: [
        (TransportError.system(EADDRNOTAVAIL, "bind"), "Cannot assign requested address"),
        (TransportError.system(EACCES, "bind"), "Permission denied"),
    ])
    func `An address that can't be had names its setting`(error: TransportError, words: String) throws {
        let fault = try #require(ListenFault(error, program: "gateway", address: address))
        #expect(
            fault.description
                == "cannot listen on 192.0.2.1:80: \(words). VESTIBULE_GATEWAY_LISTEN names another address"
        )
    }

    @Test func `Other errors are none of it`() {
        #expect(ListenFault(TransportError.system(ENOENT, "x"), program: "gateway", address: address) == nil)
        #expect(ListenFault(TransportError.closed, program: "gateway", address: address) == nil)
    }
}
