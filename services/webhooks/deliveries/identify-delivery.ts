import { createHash } from 'node:crypto';
import { ulid } from 'ulid';
import type { Keys, RedisClient } from '#shared/redis/index.ts';
import { writeOfTenant } from '#shared/tenants/index.ts';
import type { Hook } from '../hook.ts';
import type { WebhookEvent } from '../providers/registry.ts';

/**
 * What a delivery is recognized by when it comes again: the sender's id, what was signed where the sender gives no id, or nothing for a
 * hook that takes each.
 */
export const IDENTITIES = ['id', 'signed', 'none'] as const;
export type Identity = (typeof IDENTITIES)[number];

export interface DeliveryIdentity {
  readonly identity: Identity;
  /** The id that stands for the delivery: that of the first one of its kind. */
  readonly delivery: string;
  /** Why it is a repeat, should its task be there already; null for a delivery that is none. */
  readonly repeats: string | null;
}

export interface IdentityParts {
  readonly redis: RedisClient;
  readonly keys: Keys;
  /** How long ids of deliveries are remembered, ms. */
  readonly idempotencyMs: number;
  /** How long what was signed stands for a delivery without an id, ms. */
  readonly repeatMs: number;
}

/** Recognizes a delivery whose sender was proved. What is equal without an id is a repeat for minutes only: the sender may mean two. */
export async function identifyDelivery(parts: IdentityParts, hook: Hook, event: WebhookEvent): Promise<DeliveryIdentity> {
  const { delivery, signed, isIdProved } = event;
  const isEach = hook.options !== null && 'equalBodies' in hook.options && hook.options.equalBodies === 'each';
  if (delivery !== null) {
    const byId = {
      identity: 'id',
      delivery,
      repeats: `its id "${delivery}" came before, within ${durationText(parts.idempotencyMs)}`,
    } as const;
    if (isIdProved || isEach) return byId;
    const first = await findFirst(parts, hook, { signed, delivery, keepMs: parts.idempotencyMs });
    if (first === delivery) return byId;
    return { identity: 'signed', delivery: first, repeats: `what was signed came before under the id "${first}", and ids are not signed` };
  }
  if (isEach) return { identity: 'none', delivery: `each-${ulid()}`, repeats: null };
  const first = await findFirst(parts, hook, { signed, delivery: `signed-${ulid()}`, keepMs: parts.repeatMs });
  return {
    identity: 'signed',
    delivery: first,
    repeats: `it has no id, and the same came before within ${durationText(parts.repeatMs)} (webhooks.repeatMs); options.equalBodies "each" takes both`,
  };
}

interface Sighting {
  readonly signed: WebhookEvent['signed'];
  /** The id of this one. */
  readonly delivery: string;
  readonly keepMs: number;
}

/** The id of the delivery that first brought what was signed to this hook. */
async function findFirst({ redis, keys }: IdentityParts, { id, tenant }: Hook, sighting: Sighting): Promise<string> {
  const { signed, delivery, keepMs } = sighting;
  const digest = createHash('sha256');
  for (const piece of signed) digest.update(piece);
  const key = keys.tenant(tenant).hookBody(id, digest.digest('base64url'));
  const command = ['SET', delivery, 'NX', 'PX', keepMs] as const;
  if ((await writeOfTenant({ redis, keys }, { tenant, key, command })) !== null) return delivery;
  // The key may expire between the two calls; then the delivery is new.
  return (await redis.get(key)) ?? delivery;
}

const UNITS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
] as const;

function durationText(ms: number): string {
  const [unitMs, name] = UNITS.find(([each]) => ms >= each && ms % each === 0) ?? [1, 'ms'];
  return `${ms / unitMs} ${name}`;
}
