// Is compiled and not run: the types say what the kit has, and no more.
import { Vestibule, VestibuleError, asyncStorageStore, browserStore, createNonce, memoryStore } from "../../../Sources/Kits/JavaScript/vestibule.js";
import type { Group, Profile, State, Store } from "../../../Sources/Kits/JavaScript/vestibule.js";
import { fileStore } from "../../../Sources/Kits/JavaScript/vestibule-node.js";
import { Vestibule as Small } from "../../../Sources/Kits/JavaScript/vestibule-session.js";
import { errorText } from "../../../Sources/Kits/JavaScript/vestibule-texts.js";

const store: Store = fileStore("sessions");
const vestibule = new Vestibule({ url: "https://id.example.com", clientId: "demo", store, issuer: "https://id.example.com" });
const small = new Small({ url: "https://id.example.com", store: memoryStore() });

const { nonce, sha256 } = await createNonce();
sha256.length;
await small.signIn({ provider: "apple", idToken: "token", nonce, fullName: "Maria Santos" }, { deadlineMs: 5000 });
const stop: () => void = vestibule.onState((state: State) => state.state === "signedIn" && state.userId);
stop();

const profile: Profile = await vestibule.getMe();
const texts: [string | undefined, string[], number] = [profile.displayName, profile.missingFields, profile.revision];
const group: Group = await vestibule.createGroup({ name: "Trip" }, { signal: new AbortController().signal });
group.openness === "GROUP_OPENNESS_OPEN";
const { groups, nextPageToken } = await vestibule.listGroups({ pageSize: 10 });
groups.map((each) => each.groupId + texts.length + (nextPageToken ?? ""));
for await (const { changes, isReset } of vestibule.events()) changes.map(({ kind, groupId }) => [kind, groupId, isReset]);
const picture: string | undefined = await vestibule.setAvatar(new Uint8Array(3), { type: "image/png" });
try {
  await vestibule.deleteAccount({ credentials: { provider: "apple", idToken: picture } });
} catch (error) {
  if (error instanceof VestibuleError) errorText(error, error.fields.name?.code ?? error.metadata.suggestion ?? error.action);
}
const guest: string = (await vestibule.signInAsGuest("Blue phone", { deadlineMs: 60_000 })).userId;
if (guest === (await vestibule.keptGuest()) && !(await vestibule.state()).isGuest) await vestibule.absorbGuest("merge");
await vestibule.signInWithPopup({ provider: "google" });
browserStore();
asyncStorageStore({ getItem: async () => null, setItem: async () => {}, removeItem: async () => {} });
const another: string = await small.accessToken({ insteadOf: "refused" });
another.length;

// @ts-expect-error: a group needs a name
await vestibule.createGroup({});
// @ts-expect-error: the smaller module has no methods
small.getMe;
// @ts-expect-error: and no guests
small.signInAsGuest;
// @ts-expect-error: there is one way to absorb a guest, and two outcomes
await vestibule.absorbGuest("keep");
// @ts-expect-error: a profile has no such member
profile.phone;
