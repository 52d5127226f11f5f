// cut: settings
// Where the server is, and the app's client id, which `vestibule clients add` has printed.
export const settings = { url: "http://127.0.0.1:8080", clientId: "groups-page" };
// cut end
