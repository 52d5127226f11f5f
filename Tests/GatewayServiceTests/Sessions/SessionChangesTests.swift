import Testing

@testable import GatewayService

struct SessionChangesTests {
    private let start = ContinuousClock.now

    @Test func `An answer is worthless after a later change of its session or its user`() {
        let changes = SessionChanges(now: start)
        let before = changes.number
        changes.note(sessions: ["a"], now: start)
        changes.note(users: ["u"], now: start)
        #expect(changes.number(ifUnchanged: "a", of: "x", since: before) == nil)
        #expect(changes.number(ifUnchanged: "b", of: "u", since: before) == nil)
        #expect(changes.number(ifUnchanged: "b", of: "x", since: before) == changes.number)
        // An answer from after them.
        #expect(changes.number(ifUnchanged: "a", of: "u", since: changes.number) == changes.number)
    }

    @Test func `All answers are worthless after a change of anything`() {
        let changes = SessionChanges(now: start)
        let before = changes.number
        changes.noteAll()
        #expect(changes.number(ifUnchanged: "b", of: "x", since: before) == nil)
        #expect(changes.number(ifUnchanged: "b", of: "x", since: changes.number) != nil)
    }

    @Test func `Nothing is no id`() {
        let changes = SessionChanges(now: start)
        let before = changes.number
        changes.note(sessions: [""], users: [""], now: start)
        #expect(changes.number == before)
        #expect(!changes.hasEnded(""))
    }

    @Test func `Changes are kept for longer than answers are used`() {
        #expect(SessionChanges.kept > SessionAnswers.goodForMax)
        let changes = SessionChanges(now: start)
        changes.note(sessions: ["a"], now: start)
        changes.note(sessions: ["b"], now: start + SessionChanges.kept)
        #expect(changes.hasEnded("a") && changes.hasEnded("b"))
        #expect(changes.number(ifUnchanged: "a", of: "", since: 0) == nil)
        changes.note(sessions: ["c"], now: start + SessionChanges.kept * 2)
        #expect(!changes.hasEnded("a") && changes.hasEnded("b") && changes.hasEnded("c"))
    }

    @Test func `With more changes than are kept, all answers from before are worthless`() {
        let changes = SessionChanges(now: start)
        changes.note(sessions: (0..<SessionChanges.generationMax).map { "s\($0)" }, now: start)
        #expect(changes.number(ifUnchanged: "other", of: "x", since: 0) == nil)
        #expect(changes.number(ifUnchanged: "other", of: "x", since: changes.number) != nil)
        #expect(changes.hasEnded("s7"))
    }
}
