/** The languages that there are, by their tags. */
export declare const languages: string[];

/** A sentence for people about an error or a code, in the first of the languages that is there (the browser's), else in English. */
export declare function errorText(error: { code: string } | string, wanted?: string | readonly string[]): string;
