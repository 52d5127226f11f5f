import HTTPJSON
import HTTPTypes

/// `GET /` outside of development: the user's account, whose page signs in a browser that isn't.
enum AccountRedirect {
    /// It is in no description, since it is for people.
    static let route = Route(
        .get,
        "/",
        isForOtherOrigins: false,
        atOnce: { _, _ in AccountPages.seeOther(AccountPage.path) }
    )
}
