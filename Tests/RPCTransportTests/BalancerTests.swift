import Testing

@testable import RPCTransport

struct BalancerTests {
    private func balancer(_ states: [ConnectivityState]) -> Balancer {
        var balancer = Balancer(firstTurn: 0)
        balancer.replace(states)
        return balancer
    }

    private func picks(_ balancer: inout Balancer, _ count: Int, full: Set<Int> = []) -> [Int?] {
        (0..<count).map { _ in balancer.pick { !full.contains($0) } }
    }

    @Test func `Rounds go over the connections that are ready`() {
        var balancer = balancer([.ready, .connecting, .ready, .transientFailure, .ready])
        let picked = picks(&balancer, 300).compactMap(\.self)
        #expect([0, 2, 4].map { index in picked.count { $0 == index } } == [100, 100, 100])
        balancer.update(2, .idle)
        #expect(Set(picks(&balancer, 10)) == [0, 4])
        balancer.update(1, .ready)
        #expect(Set(picks(&balancer, 10)) == [0, 1, 4])
    }

    @Test func `Full connections are passed over`() {
        var balancer = balancer([.ready, .ready, .ready])
        #expect(Set(picks(&balancer, 6, full: [1])) == [0, 2])
        #expect(picks(&balancer, 2, full: [0, 1, 2]) == [nil, nil])
        var one = self.balancer([.idle, .ready])
        #expect(picks(&one, 1, full: [1]) == [nil])
        #expect(picks(&one, 2) == [1, 1])
        var none = self.balancer([.idle, .connecting])
        #expect(picks(&none, 1) == [nil])
    }

    @Test func `Many rounds do not overflow`() {
        var balancer = Balancer(firstTurn: .max)
        balancer.replace([.ready, .ready])
        #expect(Set(picks(&balancer, 4)) == [0, 1])
    }

    @Test func `All addresses are connected to`() {
        #expect(balancer([.idle, .ready, .idle, .transientFailure]).toConnect == [0, 2])
        #expect(balancer([.ready, .connecting]).toConnect == [])
    }

    @Test(arguments: [
        ([ConnectivityState.ready, .transientFailure], ConnectivityState.ready),
        ([.connecting, .transientFailure], .connecting),
        ([.idle, .transientFailure], .idle),
        ([.transientFailure, .transientFailure], .transientFailure),
        ([.connecting, .idle], .connecting),
        ([], .idle),
    ])
    func `The states of all connections make one`(states: [ConnectivityState], together: ConnectivityState) {
        #expect(balancer(states).state == together)
    }
}
