import { z } from 'zod';
import ipaddr from 'ipaddr.js';
import { nearestName } from './secrets/mistyped-variables.ts';

/** A setting that is an integer of at least `min`. */
export const int = (fallback: number, min = 1): z.ZodDefault<z.ZodNumber> => z.number().int().min(min).default(fallback);

/** What an agent, a lane or a schedule of the configuration is called. */
export const nameSchema = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'expected lower-case letters, digits, ".", "_" or "-", at most 64');

/**
 * One line for people: what they call a tenant, a key, a hook or a schedule. Line breaks, codes that steer a terminal and characters that
 * change the order of the text around them are refused. Only for requests: records may hold names from before they were checked.
 */
export const lineSchema = z
  .string()
  .regex(/^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]*$/u, 'expected one line of text without control characters');

/** An IANA time zone. */
export const zoneSchema = z.string().max(64).refine(isZone, 'expected a time zone such as "Europe/Berlin"');

function isZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).format(0) !== '';
  } catch {
    return false;
  }
}

/** Something that a machine has and a task may need: `browser`, `gpu`, `repo:payments`. */
export const capabilitySchema = z
  .string()
  .regex(/^[^\s,;/%]{1,100}$/, 'expected at most 100 characters, without spaces, ",", ";", "/" or "%"');

/** How a task is executed, as the task itself and its agent may say it; what neither says, the configuration does. */
/** A duration as people write it: milliseconds, or text as `30s`. */
export const durationSchema = z.union([
  z.number().min(0),
  z.string().regex(/^\s*\d+(\.\d+)?\s*[A-Za-z]+\s*$/, 'expected a duration as "30s" or "3 days"'),
]);

export const executionFields = {
  /** Longest run of one attempt, in milliseconds. */
  timeoutMs: z.number().int().min(1).max(86_400_000).optional(),
  /** Attempts allowed, the first one included. */
  maxAttempts: z.number().int().min(1).max(100).optional(),
  /** Before the second attempt; `retryBackoff` says how it grows. In milliseconds. */
  retryDelayMs: z.number().int().min(0).max(3_600_000).optional(),
  retryBackoff: z.enum(['exponential', 'linear']).optional(),
  /** Whether a task that runs at its deadline is aborted, and fails for good. */
  deadlineAborts: z.boolean().optional(),
};

export type Network = [first: ipaddr.IPv4 | ipaddr.IPv6, bits: number];

/** A network as CIDR, or one address; null for what is neither. */
export function readNetwork(text: string): Network | null {
  if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text);
  // The short forms of IPv4 ("10.1" is 10.0.0.1) are more often a typing error than meant.
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return [ipaddr.parse(text), 32];
  if (ipaddr.IPv6.isValid(text)) return [ipaddr.parse(text), 128];
  return null;
}

/** Names in a message, and unknown ones that are compared with the known: a request may have 20,000. */
const MAX_NAMED = 40;

// Requests, agents and the configuration are written by hand: beside an unknown member the message names the one that may be meant, or those that exist.
z.config({ customError: describeUnknown });

type RawIssue = Parameters<NonNullable<ReturnType<typeof z.config>['customError']>>[0];

function describeUnknown({ code, keys, inst }: RawIssue): string | undefined {
  if (code !== 'unrecognized_keys' || !(inst instanceof z.ZodObject)) return undefined;
  const names = keys.map((key) => JSON.stringify(key)).join(', ');
  return `Unrecognized key${keys.length === 1 ? '' : 's'}: ${names}; ${describeKnown(keys, Object.keys(inst.shape))}`;
}

function describeKnown(unknown: readonly string[], known: readonly string[]): string {
  const meant = [...new Set(unknown.slice(0, MAX_NAMED).flatMap((name) => nearestName(name, known) ?? []))];
  if (meant.length > 0) return `${meant.map((name) => JSON.stringify(name)).join(', ')} may be meant`;
  if (known.length === 0) return 'none is taken';
  const more = known.length > MAX_NAMED ? ` and ${known.length - MAX_NAMED} more` : '';
  return `taken are ${known.slice(0, MAX_NAMED).join(', ')}${more}`;
}
