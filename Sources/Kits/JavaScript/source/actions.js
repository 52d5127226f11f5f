import { refusals } from "../Generated/refusals.js";

// Codes of the kit's own; the rest is `retry`.
const OWN = { sign_in_again: "SIGNED_OUT", show: "CANCELLED" };

// Refusals of credentials and of sessions. `Generated/refusals.js` has those that are something else.
const SIGN_IN = /^(AUTHE|SESS|REFR|ACCO|TO|CO|NO|TI|PR)/;

const tables = [refusals];

/** Adds a table of the codes whose action the status alone doesn't say. */
export function addActions(table) {
  if (!tables.includes(table)) tables.push(table);
}

/** What an app does about a code; one that no table has is decided by the status. */
export function actionOf(code, status) {
  for (const table of status ? tables : [OWN, ...tables]) {
    for (const action in table) {
      if (table[action].split(" ").includes(code)) return action;
    }
  }
  if (status === 401) return SIGN_IN.test(code) ? "sign_in_again" : "refresh";
  if (status === 429 || status === 503) return "wait";
  return status < 500 ? "show" : "retry";
}
