import { toMusterError } from '#shared/http/index.ts';
import type { Clock } from '#shared/time/index.ts';
import type { StoredDelivery } from './hook-delivery.ts';

/** A longer body is never written out for its record. */
export const MAX_KEPT_BYTES = 65_536;

/** The record of a request that is not read yet; `bytes` is null for a body that was not read to its end. */
export function describeDelivery(clock: Clock, bytes: number | null): Omit<StoredDelivery, 'verdict'> {
  const at = new Date(clock.now()).toISOString();
  const unknown = { code: null, reason: null, event: null, eventType: null, delivery: null, identity: null, taskId: null };
  return { at, origin: 'sender', ...unknown, bytes, payload: '', mayReplay: false };
}

/** The record of a request that was refused before its event was known, with the beginning of its body. */
export function refusedDelivery(clock: Clock, error: unknown, rawBody: Buffer | null): StoredDelivery {
  const payload = rawBody?.toString('utf8', 0, MAX_KEPT_BYTES) ?? '';
  return { ...describeDelivery(clock, rawBody?.length ?? null), ...refusalOf(error), payload };
}

export function refusalOf(error: unknown): Pick<StoredDelivery, 'verdict' | 'code' | 'reason'> {
  const { code, message } = toMusterError(error);
  return { verdict: 'refused', code, reason: message };
}
