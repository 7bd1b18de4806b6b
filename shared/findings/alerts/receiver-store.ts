import { z } from 'zod';
import { type Keys, readRecords, type RedisClient } from '../../redis/index.ts';
import type { Alert } from './alert.ts';

interface StorePorts {
  readonly redis: RedisClient;
  readonly keys: Keys;
}

const failureSchema = z.object({
  /** When the last try failed, ms since the epoch. */
  at: z.number(),
  /** Tries in a row that failed. */
  times: z.int(),
  why: z.string(),
});
export type ReceiverFailure = z.infer<typeof failureSchema>;

/** How the receiver of a rule does, whichever process sent to it. */
export interface ReceiverState {
  /** When it last took alerts that fire, ms since the epoch. */
  readonly firingSentAt: number | null;
  /** When it last took resolved ones. */
  readonly resolvedSentAt: number | null;
  /** Null while it takes what comes. */
  readonly failure: ReceiverFailure | null;
}

/** How the receivers of these rules do. */
export async function readReceivers({ redis, keys }: StorePorts, rules: readonly string[]): Promise<Map<string, ReceiverState>> {
  const stored = await redis.hgetall(keys.fleet.alertReceivers);
  const timeOf = (field: string): number | null => (stored[field] === undefined ? null : Number(stored[field]));
  return new Map(
    rules.map((rule) => {
      const failure = parseFailure(stored[`${rule} failed`]);
      return [rule, { firingSentAt: timeOf(`${rule} firing`), resolvedSentAt: timeOf(`${rule} resolved`), failure }];
    }),
  );
}

/** Notes that the receiver of a rule took alerts. */
export async function noteTaken(
  { redis, keys }: StorePorts,
  { rule, status, at }: { rule: string; status: Alert['status']; at: number },
): Promise<void> {
  await redis.hset(keys.fleet.alertReceivers, `${rule} ${status}`, at);
  await redis.hdel(keys.fleet.alertReceivers, `${rule} failed`);
}

/** Notes that it took a test: it fails no more. */
export async function noteTested({ redis, keys }: StorePorts, rule: string): Promise<void> {
  await redis.hdel(keys.fleet.alertReceivers, `${rule} failed`);
}

/** Notes that it did not. */
export async function noteFailed({ redis, keys }: StorePorts, rule: string, failure: ReceiverFailure): Promise<void> {
  await redis.hset(keys.fleet.alertReceivers, `${rule} failed`, JSON.stringify(failure));
}

/** Null also for what another release wrote. */
function parseFailure(text: string | undefined): ReceiverFailure | null {
  if (text === undefined) return null;
  const [failure] = readRecords([['failed', text]], (each): ReceiverFailure => failureSchema.parse(JSON.parse(each))).items;
  return failure ?? null;
}
