import { z } from 'zod';
import { capabilitySchema } from '../config/index.ts';

const ID_PREFIX = 'dmn_';
/** Capabilities of a daemon, and agents that it may run. */
const MAX_LISTED = 100;
const MAX_SLOTS = 10_000;

/**
 * What people call a daemon, as they call their machines: signs and pictures too, which may be joined. Tasks name it as
 * `requirements.targetDaemon`, so that it cannot look like an id.
 */
export const daemonNameSchema = z
  .string()
  .regex(
    /^(?!dmn_|\p{Zs})(?!.*[/\\])[\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}\u200d]{1,64}(?<!\p{Zs})$/u,
    'expected at most 64 characters of one line without slashes, no space at its ends, and no "dmn_" in front',
  );

const shortText = z.string().min(1).max(200);
const list = z.array(shortText).max(MAX_LISTED);

/** What a person decides of a daemon. */
export const registrationSchema = z.object({
  name: daemonNameSchema,
  /** Only tasks of this user of the tenant reach it; null for tasks of all. */
  user: shortText.nullable(),
  /** What it may declare; null for whatever it declares. */
  capabilities: z.array(capabilitySchema).max(MAX_LISTED).nullable(),
  /** Tasks that it may run at once; null for as many as it declares, within `hub.maxSlotsPerDaemon`. */
  slots: z.int().min(1, 'expected at least 1; a daemon that shall run nothing is disabled').max(MAX_SLOTS).nullable(),
  /** Agents whose tasks it may run; null for any. */
  agents: list.nullable(),
  enabled: z.boolean(),
});
export type Registration = z.infer<typeof registrationSchema>;

/** A daemon that a person registered: an executor on a machine of theirs. */
export const daemonSchema = registrationSchema.extend({
  id: z.string(),
  tenant: z.string(),
  /** Older registrations may have none. */
  slots: z.int().min(0).max(MAX_SLOTS).nullable(),
  /** How often it was given another token; a connection under an earlier one ends. */
  tokenGeneration: z.int(),
  createdAt: z.int(),
});
export type Daemon = z.infer<typeof daemonSchema>;

/** As it is stored, with the digest of its token; the token itself is nowhere. */
export const storedDaemonSchema = daemonSchema.extend({ tokenDigest: z.string() });
export type StoredDaemon = z.infer<typeof storedDaemonSchema>;

/** Names a daemon of any tenant. */
export interface DaemonAddress {
  readonly tenant: string;
  readonly id: string;
}

/** `dmn_` and 20 characters that sort by the time of the call. */
export function newDaemonId(): string {
  return `${ID_PREFIX}${Date.now().toString(16).padStart(12, '0')}${crypto.randomUUID().slice(-8)}`;
}

/** What the daemon of a connection may do now, given what its person decided since. */
export function isAccessGone(connected: Daemon, now: Daemon | null): boolean {
  return now === null || !now.enabled || now.tokenGeneration !== connected.tokenGeneration;
}
