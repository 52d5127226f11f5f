// The kit in Node against a running server: what a phone's app does, from the first sign-in to the deletion. Reads its orders from the
// environment, and fails by an exception.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { Vestibule, VestibuleError, createNonce, memoryStore } from "../../../Sources/Kits/JavaScript/vestibule.js";
import { Vestibule as Small } from "../../../Sources/Kits/JavaScript/vestibule-session.js";
import { fileStore } from "../../../Sources/Kits/JavaScript/vestibule-node.js";
import { errorText } from "../../../Sources/Kits/JavaScript/vestibule-texts.js";

const { GATEWAY: url, SIMULATOR, STORE, PICTURE } = process.env;

/** Has the simulated Apple sign a new person in. */
async function credentials(name) {
  const { nonce, sha256 } = await createNonce();
  const response = await fetch(`${SIMULATOR}/control/apple/sign-in`, {
    method: "POST", headers: { "content-type": "application/json" },
    body: JSON.stringify({
      client_id: "com.example.app", nonce: sha256,
      person: { email: `${name}@example.com`, given_name: name, family_name: "Santos" },
    }),
  });
  const { identity_token: idToken, authorization_code: authorizationCode } = await response.json();
  return { provider: "apple", idToken, authorizationCode, nonce, fullName: `${name} Santos`, deviceName: "Node" };
}

const until = async (condition) => {
  for (const end = Date.now() + 15_000; Date.now() < end;) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.fail(`never: ${condition}`);
};

const maria = `maria${process.pid}`;
const vestibule = new Vestibule({ url, store: fileStore(STORE) });
const states = [];
vestibule.onState((state) => states.push(state));

// Signing in.
await assert.rejects(vestibule.getMe(), (error) => error instanceof VestibuleError && error.code === "SIGNED_OUT");
const signedIn = await vestibule.signIn(await credentials(maria));
assert.equal(signedIn.isNewUser, true);
assert.deepEqual(signedIn.missingFields, ["display_name", "phone_number"]);
assert.deepEqual(await vestibule.state(), { state: "signedIn", userId: signedIn.userId });

// The profile.
assert.equal((await vestibule.getMe()).revision, 0);
const digits = String(Date.now()).slice(-7);
const profile = await vestibule.updateMe({ displayName: "Maria Santos", phoneNumber: `+63917${digits}` });
assert.equal(profile.displayName, "Maria Santos");
assert.equal(typeof profile.revision, "number");
await assert.rejects(vestibule.updateMe({ username: "a b" }), (error) => {
  assert.equal(error.code, "USERNAME_INVALID");
  assert.equal(error.action, "show");
  assert.equal(error.fields.username.code, "USERNAME_INVALID");
  assert.ok(errorText(error, "de-DE").length > 5);
  return true;
});
assert.equal((await vestibule.checkUsername({ username: `m${digits}` })).isFree, true);

// Groups and events, as a second client of the same store sees them.
const other = new Vestibule({ url, store: fileStore(STORE) });
const stop = new AbortController();
const messages = [];
const watching = (async () => {
  for await (const message of other.events({ signal: stop.signal })) messages.push(message);
})().catch((error) => error);
await until(() => messages.length > 0);
assert.deepEqual((await vestibule.listGroups()).groups, []);
const group = await vestibule.createGroup({ name: "Trip", openness: "GROUP_OPENNESS_OPEN" });
assert.equal(group.role, "GROUP_ROLE_OWNER");
await until(() => messages.some(({ changes }) => changes.some((each) => each.groupId === group.groupId)));
const { member } = await vestibule.addMember({ groupId: group.groupId, phoneNumber: "+639171234567", displayName: "Ana Cruz" });
assert.equal(member.state, "MEMBER_STATE_PENDING");
const { link, token } = await vestibule.createGroupLink({ groupId: group.groupId, usesMax: 1 });
assert.equal(link.uses, 0);
assert.equal((await vestibule.previewGroupLink({ token })).groupName, "Trip");
stop.abort();
assert.equal((await watching).name, "AbortError");

// Refreshing, by many callers at once, and from two clients of the store.
const before = await vestibule.accessToken();
const tokens = await Promise.all([vestibule.refresh(), vestibule.refresh(), other.refresh(), other.refresh()]);
assert.equal(new Set(tokens).size, 1);
assert.notEqual(tokens[0], before);
assert.equal(await vestibule.accessToken(), tokens[0]);
assert.equal((await other.getMe()).userId, signedIn.userId);

// A picture.
const picture = await vestibule.setAvatar(await readFile(PICTURE), { type: "image/png" });
assert.equal((await fetch(picture)).headers.get("content-type"), "image/png");
assert.equal(vestibule.avatarURL((await vestibule.getMe()).avatarUrl), picture);
await vestibule.removeAvatar();
assert.equal((await vestibule.getMe()).avatarUrl, undefined);
await assert.rejects(vestibule.setAvatar(Buffer.from("text"), { type: "image/png" }), { code: "AVATAR_INVALID" });

// Sessions: another device is signed out by this one, and learns why.
const phone = new Small({ url, store: memoryStore() });
await phone.signIn(await credentials(maria));
const told = [];
phone.onState((state) => told.push(state));
const { sessions } = await vestibule.listSessions();
assert.equal(sessions.length, 2);
assert.equal(sessions.filter((each) => each.isCurrent).length, 1);
await vestibule.endSession({ sessionId: sessions.find((each) => !each.isCurrent).sessionId });
await assert.rejects(phone.refresh(), { code: "SESSION_REVOKED" });
await until(() => told.some(({ code }) => code === "SESSION_REVOKED"));

// Deleting the account needs a fresh sign-in, which this one is.
await vestibule.deleteAccount();
assert.equal((await vestibule.state()).state, "signedOut");
assert.equal((await other.state()).state, "signedOut");
assert.deepEqual(states.at(-1), { state: "signedOut" });

// Signing out, and in again as somebody else.
const ana = await vestibule.signIn(await credentials(`ana${process.pid}`));
assert.notEqual(ana.userId, signedIn.userId);
await vestibule.signOut();
await assert.rejects(vestibule.getMe(), { code: "SIGNED_OUT" });
assert.deepEqual(states.map((each) => each.state), ["signedOut", "signedIn", "signedOut", "signedIn", "signedOut"]);

// A guest who links a provider has a full account with the same user id.
const app = new Vestibule({ url, store: memoryStore() });
const guest = await app.signInAsGuest("Node");
assert.equal(guest.isNewUser, true);
assert.deepEqual(await app.state(), { state: "signedIn", userId: guest.userId, isGuest: true });
assert.equal((await app.getMe()).isGuest, true);
await assert.rejects(app.signInAsGuest(), { code: "SIGNED_IN", action: "show" });
await app.linkProvider(await credentials(`lia${process.pid}`));
assert.deepEqual(await app.state(), { state: "signedIn", userId: guest.userId });
assert.equal((await app.getMe()).isGuest, false);
await app.signOut();

// One who signs in to an account is merged into it.
const second = await app.signInAsGuest();
const { groupId } = await app.createGroup({ name: "Lunch" });
assert.equal((await app.signIn(await credentials(`lia${process.pid}`))).userId, guest.userId);
assert.equal(await app.keptGuest(), second.userId);
await app.absorbGuest("merge");
assert.equal(await app.keptGuest(), undefined);
await until(async () => (await app.listGroups()).groups.some((each) => each.groupId === groupId));
