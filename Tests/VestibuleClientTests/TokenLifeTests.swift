import Testing

@testable import VestibuleClient

struct TokenLifeTests {
    @Test(arguments: [
        // A minute must be left.
        (600, 0.0, true), (600, 539, true), (600, 540, true), (600, 541, false), (600, 600, false),
        (600, 10_000, false),
        // Of a short one a fifth.
        (100, 79, true), (100, 80, true), (100, 81, false), (5, 3.9, true), (5, 4.1, false),
        // The clock was set back.
        (600, -0.001, false), (600, -86_400, false),
        (0, 0, true), (0, 1, false),
    ])
    func `A token is fresh while a minute or a fifth of its lifetime is left`(lifetime: Int, age: Double, isFresh: Bool)
    {
        #expect(TokenLife.isFresh(lifetimeSeconds: Int64(lifetime), age: .seconds(age)) == isFresh)
    }
}
