import { expect, it } from 'vitest';
import { countFailure, listEndpoints, readEndpoint, trimEndpoints } from '#shared/deliveries/callbacks/callback-records.ts';
import { useEmptyParts } from '../../../support/use-parts.ts';

const DAY_MS = 86_400_000;
const { ledger } = await useEmptyParts({
  deliveries: { callbacks: { maxEndpoints: 3, disableAfterMs: 2 * DAY_MS, endpointRetentionMs: 10 * DAY_MS } },
});
const url = (number: number): string => `https://example.com/${number}`;
const fail = async (number: number, now: number): Promise<void> =>
  await countFailure(ledger, 'acme', url(number), { error: { code: 'X', message: 'no', retryable: true } as never, now });

it('with one endpoint more than are remembered, the one that failed longest ago goes', async () => {
  for (const [number, at] of [1, 2, 3].entries()) await fail(number, at);
  await fail(0, 10);
  await fail(9, 11);
  expect((await listEndpoints(ledger, 'acme')).map((endpoint) => endpoint.url)).toEqual([url(9), url(0), url(2)]);
});

it('an endpoint that begins to fail where as many as are remembered fail already is disabled in its time', async () => {
  for (const number of [1, 2, 3]) await fail(number, number);
  for (let day = 1; day <= 4; day += 1) await fail(9, day * DAY_MS);
  expect((await readEndpoint(ledger, 'acme', url(9)))?.disabledAt).toBe(3 * DAY_MS);
});

it('are still bounded when many begin to fail at once', async () => {
  await Promise.all(Array.from({ length: 20 }, (_, number) => fail(number, 1)));
  expect(await listEndpoints(ledger, 'acme')).toHaveLength(3);
});

it('are forgotten when nobody knows any more whether they fail', async () => {
  await fail(1, 0);
  await fail(2, 5 * DAY_MS);
  await trimEndpoints(ledger, 'acme', 11 * DAY_MS);
  expect((await listEndpoints(ledger, 'acme')).map((endpoint) => endpoint.url)).toEqual([url(2)]);
});
