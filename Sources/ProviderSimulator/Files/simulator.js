// Sends the form that carries an answer to an app, and makes the forms of the simulator's page work.
import { connectForm } from "./call.js";

document.querySelector("form.forward")?.requestSubmit();

document.documentElement.classList.add("scripted");
const updates = [...document.querySelectorAll("form.call")].map((form) => connectForm(form));

/** Makes all forms about a person. */
function choose(chosen) {
  for (const chip of document.querySelectorAll("#people button")) {
    chip.setAttribute("aria-pressed", String(chip === chosen));
  }
  const { email, given, family, apple, google } = chosen.dataset;
  const values = { "person.email": email, "person.given_name": given, "person.family_name": family };
  for (const control of document.querySelectorAll("form.call [name]")) {
    const value = values[control.name] ?? { SUBJECT_APPLE: apple, SUBJECT_GOOGLE: google }[control.dataset.variable];
    if (value !== undefined) control.value = value;
  }
  for (const update of updates) update();
}

for (const chip of document.querySelectorAll("#people button")) chip.addEventListener("click", () => choose(chip));
const first = document.querySelector("#people button");
if (first) choose(first);
