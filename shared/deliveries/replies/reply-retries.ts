import type { Delivery } from '../delivery.ts';
import type { DeliveryContext } from '../held-delivery.ts';
import type { DeliveryRefused } from './chat-port.ts';

/** The next try of a reply: the tries that count by then, and how long until it. */
export interface NextAttempt {
  attempts: number;
  delayMs: number;
}

/** The try after a refusal; a throttled one costs none. */
export function nextAttempt(context: Pick<DeliveryContext, 'ledger'>, delivery: Delivery, refused: DeliveryRefused): NextAttempt {
  const attempts = delivery.attempts + (refused.kind === 'transient' ? 1 : 0);
  return { attempts, delayMs: delayAfter(context, refused, attempts) };
}

/** When a reply is tried again, ms since the epoch; null when it was tried often enough or is too old. */
export function nextTryOf(
  { ledger, clock }: Pick<DeliveryContext, 'ledger' | 'clock'>,
  { openedAt, endedAt }: Delivery,
  { attempts, delayMs }: NextAttempt,
): number | null {
  const { maxAttempts, maxAgeMs } = ledger.settings.deliveries;
  const nextTryAt = clock.now() + delayMs;
  const isTooOld = nextTryAt - Math.max(openedAt, endedAt ?? 0) > maxAgeMs;
  return attempts >= maxAttempts || isTooOld ? null : nextTryAt;
}

function delayAfter({ ledger }: Pick<DeliveryContext, 'ledger'>, { kind, retryAfterMs }: DeliveryRefused, attempts: number): number {
  const { firstRetryMs, maxRetryMs, maxThrottleMs } = ledger.settings.deliveries;
  if (kind === 'throttled') return Math.min(Math.max(retryAfterMs ?? firstRetryMs, firstRetryMs), maxThrottleMs);
  return Math.min(firstRetryMs * 2 ** Math.max(attempts - 1, 0), maxRetryMs);
}
