import API
import Models
import ProfileDomain
import RPC
import ServiceKit
import ServiceModels

extension ProfileMethods {
    /// Changes the fields that are present, all or none, and returns the whole profile.
    func updateProfile(
        _ request: ProfileV1.UpdateProfileRequest,
        context: ServerContext
    ) async throws -> ProfileV1.UpdateProfileResponse {
        try await context.answer {
            let (userID, isGuest) = try callers.userOrGuest(of: context)
            if isGuest, !request.phoneNumber.isEmpty { throw CallerProofError.guest }
            let required = isGuest ? requiredFields.ofGuests : requiredFields
            let change = try ProfileChange(request, policy: phonePolicy, required: required)
            var response = ProfileV1.UpdateProfileResponse()
            response.profile = ProfileV1.Profile(try await save(change, of: userID, context), required: required)
            return response
        }
    }

    /// The maximum of holders with closed accounts per save: of a number, of a username, and of one that was taken since.
    private static let holdersMax = 3

    /// Saves a change. If another user has the username, free ones are suggested.
    private func save(_ change: ProfileChange, of userID: UserID, _ context: ServerContext) async throws -> Profile {
        do {
            return try await saveIfFree(change, of: userID, context)
        } catch let fault as ProfileError {
            guard case .usernameTaken = fault, case .set(let username) = change.username else { throw fault }
            var name: DisplayName?
            if case .set(let new) = change.displayName { name = new }
            let check = try await store.check(
                username,
                for: userID,
                displayName: name,
                caller(context),
                nowMilliseconds: clock.nowMilliseconds
            )
            throw ProfileError.usernameTaken(suggestions: check.suggestions)
        }
    }

    /// Saves a change. What a closed account still has is no reason to refuse it: the closing may not have reached this service yet, so it
    /// asks identity, and closes the account here too.
    private func saveIfFree(_ change: ProfileChange, of userID: UserID, _ context: ServerContext) async throws
        -> Profile
    {
        for _ in 0...Self.holdersMax {
            let outcome = try await store.update(
                userID,
                applying: change,
                by: caller(context),
                nowMilliseconds: clock.nowMilliseconds
            )
            switch outcome {
            case .saved(let profile, let hasEvents):
                if hasEvents { phoneChanged() }
                return profile
            case .held(let holder, let fault):
                guard try await closings.isClosed(holder) else { throw fault }
                try await close(holder, context)
            }
        }
        throw ProfileError.holderUnknown
    }
}
