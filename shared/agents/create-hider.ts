/** Takes secrets out of a text. */
export type Redactor = (text: string) => string;

/** Shorter ones are no secrets worth the name, but words that a text may hold by chance. */
const SHORTEST = 8;

/**
 * Makes what takes these secrets out of a text that somebody else wrote: a server that refuses a request may quote what it was
 * sent, and what it says is shown to people and logged. A secret of several words ("Bearer ...") is hidden word by word too.
 */
export function createSecretRedactor(secrets: readonly (string | undefined)[]): Redactor {
  const words = secrets.flatMap((secret = '') => [secret, ...secret.split(/\s+/)]).filter((word) => word.length >= SHORTEST);
  // The longest first: another one may be a part of it.
  const known = [...new Set(words)].toSorted((a, b) => b.length - a.length);
  return (text) => known.reduce((rest, word) => rest.replaceAll(word, '[hidden]'), text);
}
