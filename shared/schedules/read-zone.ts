import { MusterError } from '../errors/index.ts';

/**
 * Names without a place that mean one zone everywhere. Others of three letters (`IST`, `BST`, `PST`) mean several, or a zone
 * that nobody expects, to whom they are handed on.
 */
const SHORT = new Set('UTC GMT UCT EST MST HST CET MET EET WET PRC ROC ROK'.split(' '));
const MOST_CHARACTERS = 64;

let spellings: ReadonlyMap<string, string> | undefined;

/** The zone of this machine. */
function hostZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/**
 * The IANA zone of this name, in its usual spelling; without a name, the host's. An offset such as `+02:00` is none: it does not
 * know when the clocks change.
 * Throws `schedule.unknown-zone`.
 */
export function readZone(name?: string | null): string {
  if (name === undefined || name === null) return hostZone();
  spellings ??= new Map(Intl.supportedValuesOf('timeZone').map((zone) => [zone.toLowerCase(), zone]));
  const known = spellings.get(name.toLowerCase());
  if (known !== undefined) return known;
  if (isLink(name)) return name.length === 3 ? name.toUpperCase() : name;
  const shown = JSON.stringify(name.slice(0, MOST_CHARACTERS));
  throw new MusterError('schedule.unknown-zone', `${shown} is no IANA time zone; one looks like Europe/Berlin or UTC`, {
    details: { given: shown },
  });
}

/** Older names of zones (`Asia/Kolkata` here, `US/Pacific`) are not listed, yet known. */
function isLink(name: string): boolean {
  if (name.length > MOST_CHARACTERS || !/^[A-Za-z]/.test(name)) return false;
  if (name.length === 3 && !SHORT.has(name.toUpperCase())) return false;
  try {
    return Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
