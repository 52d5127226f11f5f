import API
import InvitesDomain
import RPC
import ServiceKit

extension InvitationError {
    /// The RPC error: the one place that spells these reasons.
    var rpcError: RPCError {
        switch self {
        case .notFound:
            .domain(.notFound, reason: "INVITATION_NOT_FOUND", message: "There is no such invitation.")
        case .confirmationNeeded:
            .domain(
                .failedPrecondition,
                reason: "CONFIRMATION_NEEDED",
                message: "Somebody of the group must confirm you."
            )
        case .personChanged:
            // ABORTED, which is a conflict over HTTP.
            .domain(
                .aborted,
                reason: "PERSON_CHANGED",
                message: "This is somebody else by now. Look again before you confirm."
            )
        case .memberNotConfirmed:
            .domain(
                .aborted,
                reason: "MEMBER_NOT_CONFIRMED",
                message: "Confirm this member or make them an admin first."
            )
        case .memberUnconfirmed:
            .domain(
                .permissionDenied,
                reason: "MEMBER_UNCONFIRMED",
                message: "Somebody of the group must confirm you before you can add or confirm people."
            )
        case .nothingToConfirm:
            .domain(
                .failedPrecondition,
                reason: "NOTHING_TO_CONFIRM",
                message: "Nobody has to confirm this person."
            )
        case .linkInvalid:
            .domain(.notFound, reason: "LINK_INVALID", message: "This link is not valid.")
        case .linkOver:
            .domain(
                .failedPrecondition,
                reason: "LINK_OVER",
                message: "This link is not good any more. Ask for a new one."
            )
        case .linkUsed:
            .domain(
                .failedPrecondition,
                reason: "LINK_USED",
                message: "You have used this link before. Ask for a new one."
            )
        case .tooManyLinks(let linksMax):
            .domain(
                .failedPrecondition,
                reason: "TOO_MANY_LINKS",
                message: "A group can have at most \(linksMax) links."
            )
        case .tooManyBlocked(let blockedMax):
            .domain(
                .failedPrecondition,
                reason: "TOO_MANY_BLOCKED",
                message: "A user can block at most \(blockedMax) others."
            )
        case .cannotBlockSelf:
            .domain(
                .invalidArgument,
                reason: "CANNOT_BLOCK_SELF",
                message: "Nobody can block themselves.",
                field: "user_id"
            )
        }
    }
}
