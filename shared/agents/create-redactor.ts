import { createSecretRedactor, type Redactor } from './create-hider.ts';

/** What looks like a secret wherever it stands: how requests carry them, and how well-known issuers write them. */
const PATTERNS: readonly [pattern: RegExp, replacement: string][] = [
  [/\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi, '$1 [hidden]'],
  [/(\w:\/\/)[^\s/@"']*:[^\s/@"']+@/g, '$1[hidden]@'],
  [/\b(?:sk|rk|pk|whsec|mk|mv|gh[opsu]|xox[abprs]|glpat)[-_][\w-]{12,}/g, '[hidden]'],
  [/\b(?:github_pat_\w{20,}|AKIA[0-9A-Z]{16}|AIza[\w-]{30,})/g, '[hidden]'],
  [/\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}/g, '[hidden]'],
];

/** A variable with such a name holds something to hide. */
const SECRET_NAME = /KEY|TOKEN|SECRET|PASSW|CREDENTIAL/i;

/**
 * Makes what takes secrets out of a text that is recorded or shown: those that are known here, each 8 characters or longer, and what looks
 * like one.
 */
export function createRedactor(secrets: readonly (string | undefined)[]): Redactor {
  const hide = createSecretRedactor(secrets);
  return (text) => PATTERNS.reduce((rest, [pattern, replacement]) => rest.replaceAll(pattern, replacement), hide(text));
}

/** The values of variables whose names say that they are secret. */
export function secretValues(variables: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(variables).flatMap(([name, value]) => (value !== undefined && SECRET_NAME.test(name) ? [value] : []));
}
