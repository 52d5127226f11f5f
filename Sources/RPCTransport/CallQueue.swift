/// Calls in the order in which they came, of which those that were completed meanwhile are passed over.
///
/// Taking one out of the middle is only counted, so that thousands that end at once cost no more than each alone.
struct CallQueue {
    private var calls: [ClientCall] = []
    private var head = 0
    /// How many wait.
    private(set) var count = 0

    /// Whether none waits.
    var isEmpty: Bool { count == 0 }

    mutating func append(_ call: ClientCall) {
        calls.append(call)
        call.isWaiting = true
        count += 1
    }

    /// Takes the first.
    mutating func popFirst() -> ClientCall? {
        while head < calls.count {
            let call = calls[head]
            head += 1
            compact()
            if call.isWaiting {
                call.isWaiting = false
                count -= 1
                return call
            }
        }
        return nil
    }

    /// A call waits no more. Nothing happens if it did not.
    mutating func remove(_ call: ClientCall) {
        guard call.isWaiting else { return }
        call.isWaiting = false
        count -= 1
        compact()
    }

    /// Takes all for which something holds, in order.
    mutating func removeAll(where matches: (ClientCall) -> Bool) -> [ClientCall] {
        var taken: [ClientCall] = []
        for call in calls[head...] where call.isWaiting && matches(call) {
            call.isWaiting = false
            count -= 1
            taken.append(call)
        }
        compact()
        return taken
    }

    /// Gives places back once more than half of them are of no use.
    private mutating func compact() {
        guard count == 0 || calls.count > 2 * count + 64 else { return }
        calls = count == 0 ? [] : calls[head...].filter(\.isWaiting)
        head = 0
    }
}
