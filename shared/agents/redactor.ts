/** Takes secrets out of a text. */
export type Redactor = (text: string) => string;

/** What looks like a secret anywhere in a text: the forms of requests and of well-known issuers. */
const PATTERNS: readonly [pattern: RegExp, replacement: string][] = [
  [/\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi, '$1 [hidden]'],
  [/(\w:\/\/)[^\s/@"']*:[^\s/@"']+@/g, '$1[hidden]@'],
  [/\b(?:sk|rk|pk|whsec|mk|mv|gh[opsu]|xox[abprs]|glpat)[-_][\w-]{12,}/g, '[hidden]'],
  [/\b(?:github_pat_\w{20,}|AKIA[0-9A-Z]{16}|AIza[\w-]{30,})/g, '[hidden]'],
  [/\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}/g, '[hidden]'],
];

/** Names of variables that hold secrets. */
const SECRET_NAME = /KEY|TOKEN|SECRET|PASSW|CREDENTIAL/i;

/** A redactor for texts that are recorded or shown: it hides these secrets, of 8 characters or more, and whatever looks like one. */
export function createRedactor(secrets: readonly (string | undefined)[]): Redactor {
  const redact = createSecretRedactor(secrets);
  return (text) => PATTERNS.reduce((rest, [pattern, replacement]) => rest.replaceAll(pattern, replacement), redact(text));
}

/** The values of variables with the name of a secret. */
export function secretValues(variables: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(variables).flatMap(([name, value]) => (value !== undefined && SECRET_NAME.test(name) ? [value] : []));
}

/** A text may hold shorter ones by chance. */
const MIN_CHARACTERS = 8;

/**
 * A redactor for what others wrote: a server that refuses a request may quote its headers, and its answer is shown and logged. It hides
 * these secrets only; one of several words ("Bearer ...") is hidden word by word too.
 */
export function createSecretRedactor(secrets: readonly (string | undefined)[]): Redactor {
  const words = secrets.flatMap((secret = '') => [secret, ...secret.split(/\s+/)]).filter((word) => word.length >= MIN_CHARACTERS);
  // The longest first: a shorter one may be part of it.
  const known = [...new Set(words)].toSorted((a, b) => b.length - a.length);
  return (text) => known.reduce((rest, word) => rest.replaceAll(word, '[hidden]'), text);
}
