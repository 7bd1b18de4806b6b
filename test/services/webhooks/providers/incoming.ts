import type { IncomingWebhook } from '../../../../services/webhooks/providers/registry.ts';

/** A moment that all signatures of these tests are made at; near now, because one library reads the machine's clock. */
export const NOW_MS = Date.now();
export const NOW_S = Math.floor(NOW_MS / 1000);

/** What arrived, with what a test does not care about filled in. Header names are lower-case, as Node hands them over. */
export function incoming(
  rawBody: string | Buffer,
  { secret, ...rest }: Partial<Omit<IncomingWebhook, 'rawBody'>> & { secret?: string } = {},
): IncomingWebhook {
  return {
    rawBody: Buffer.from(rawBody),
    headers: {},
    secrets: secret === undefined ? [] : [secret],
    options: null,
    bounds: { maxDepth: 128, maxValues: 250_000 },
    nowMs: NOW_MS,
    ...rest,
  };
}
