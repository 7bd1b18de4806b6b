/** Names of members whose values never reach a log line. */
export const SECRET_NAMES: readonly string[] = ['authorization', 'cookie', 'secret', 'apiKey', 'password', 'token', 'key'];
export const CENSOR = '[redacted]';

const SECRETS: ReadonlySet<string> = new Set(SECRET_NAMES);
/** Objects in each other that are searched, the logged one included. */
const MAX_LEVELS = 3;

type Members = Record<string, unknown>;

/**
 * A logged object without the secrets of its inner objects; pino itself redacts its own members. Its error is left to the serializer.
 * The search is written by hand, because pino's wildcards cost more for each line than all else of it.
 */
export function redactInner(line: Members): Members {
  let redacted: Members | undefined;
  for (const name of Object.keys(line)) {
    const value = line[name];
    if (typeof value !== 'object' || value === null || name === 'err') continue;
    const clean = redact(value, MAX_LEVELS - 1);
    if (clean === value) continue;
    redacted ??= { ...line };
    redacted[name] = clean;
  }
  return redacted ?? line;
}

/** An error as pino's serializer made it, without secrets. */
export function redactError(serialized: object): object {
  return redact(serialized, MAX_LEVELS - 1);
}

/** The value itself where it has no secrets, else a copy. */
function redact(value: object, levels: number): object {
  if (hasOwnJson(value)) return value;
  let changed: Members | undefined;
  for (const [name, member] of Object.entries(value)) {
    const clean = redactMember(name, member, levels);
    if (clean === member) continue;
    changed ??= {};
    changed[name] = clean;
  }
  return changed === undefined ? value : Object.assign(Array.isArray(value) ? [] : {}, value, changed);
}

function redactMember(name: string, member: unknown, levels: number): unknown {
  if (member === undefined) return member;
  if (SECRETS.has(name)) return CENSOR;
  return levels > 1 && typeof member === 'object' && member !== null ? redact(member, levels - 1) : member;
}

/** A date or an address: it says itself what it is in JSON. */
function hasOwnJson(value: object): boolean {
  return 'toJSON' in value && typeof value.toJSON === 'function';
}
