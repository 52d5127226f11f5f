// Texts of errors for people, in the languages of the server's own pages.
import { texts } from "../Generated/texts.js";

/** The languages that there are. */
export const languages = Object.keys(texts);

/** A sentence for people about an error or a code, in the first of the languages that is there, else in English. */
export function errorText(error, wanted = globalThis.navigator?.languages ?? []) {
  const code = typeof error === "string" ? error : error?.code;
  const has = (tag) => languages.find((each) => each.toLowerCase() === tag.toLowerCase());
  const language = [wanted].flat().map((tag) => has(tag) ?? has(tag.split("-")[0])).find(Boolean) ?? "en";
  return texts[language][code] ?? texts[language].OTHER;
}
