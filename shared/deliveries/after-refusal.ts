import { beginningOf } from '../errors/index.ts';
import type { DeliveryEnd } from '../queue/index.ts';
import type { DeliveryRefused } from './chat-port.ts';
import type { DeliveryError } from './delivery.ts';
import type { DeliveryContext } from './delivery-context.ts';
import { endDelivery } from './end-delivery.ts';
import type { HeldDelivery } from './held-delivery.ts';

const MESSAGE_CHARACTERS = 500;

/**
 * What follows when a platform refused: `gone` ends the delivery as failed, `unknown` as unknown, and the others are tried again,
 * within a number of tries (which `throttled` does not count) and an age.
 */
export async function afterRefusal(context: DeliveryContext, held: HeldDelivery, refused: DeliveryRefused): Promise<DeliveryEnd> {
  const error: DeliveryError = { code: refused.kind, message: beginningOf(refused.message, MESSAGE_CHARACTERS) };
  switch (refused.kind) {
    case 'gone':
      return await endDelivery(context, held, 'failed', error);
    case 'unknown':
      return await endDelivery(context, held, 'unknown', error);
    case 'throttled':
    case 'transient': {
      const attempts = held.delivery.attempts + (refused.kind === 'transient' ? 1 : 0);
      return await tryAgain(context, held, { attempts, error }, delayAfter(context, refused, attempts));
    }
  }
}

/** Tries a reply again after `delayMs`, unless it was tried often enough or is too old. */
export async function tryAgain(
  context: DeliveryContext,
  held: HeldDelivery,
  { attempts, error }: { attempts: number; error: DeliveryError },
  delayMs: number,
): Promise<DeliveryEnd> {
  const { maxAttempts, maxAgeMs } = context.ledger.settings.deliveries;
  const now = context.clock.now();
  const { openedAt, endedAt } = held.delivery;
  const isTooOld = now + delayMs - Math.max(openedAt, endedAt ?? 0) > maxAgeMs;
  if (attempts >= maxAttempts || isTooOld) {
    await held.save({ attempts });
    return await endDelivery(context, held, 'failed', error);
  }
  const nextTryAt = now + delayMs;
  await held.save({ attempts, error, nextTryAt });
  return { kind: 'later', at: nextTryAt };
}

function delayAfter({ ledger }: DeliveryContext, { kind, retryAfterMs }: DeliveryRefused, attempts: number): number {
  const { firstRetryMs, maxRetryMs, maxThrottleMs } = ledger.settings.deliveries;
  if (kind === 'throttled') return Math.min(Math.max(retryAfterMs ?? firstRetryMs, firstRetryMs), maxThrottleMs);
  return Math.min(firstRetryMs * 2 ** Math.max(attempts - 1, 0), maxRetryMs);
}
