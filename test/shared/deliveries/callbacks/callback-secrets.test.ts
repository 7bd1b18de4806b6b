import { expect, it, vi } from 'vitest';
import { Webhook } from 'standardwebhooks';
import { readCallbackSecrets, rotateCallbackSecret, signCallback } from '#shared/deliveries/callbacks/callback-secrets.ts';
import { useEmptyParts } from '../../../support/use-parts.ts';

const OVERLAP_MS = 500;
const { ledger } = await useEmptyParts({ deliveries: { callbacks: { secretOverlapMs: OVERLAP_MS } } });
const key = ledger.keys.tenant('acme').callbackSecret;

/** Which of these secrets a callback at `now` is signed by. */
async function signing<Name extends string>(secrets: Record<Name, string>, now: number): Promise<string[]> {
  const current = await readCallbackSecrets(ledger, 'acme', now);
  const sent = signCallback(current, { id: 'x', body: '{}', now, secretOverlapMs: OVERLAP_MS })['webhook-signature'] ?? '';
  const valid = new Set(sent.split(' '));
  return Object.entries<string>(secrets)
    .filter(([, secret]) => valid.has(new Webhook(secret).sign('x', new Date(now), '{}')))
    .map(([name]) => name);
}

const rotate = async (now: number): Promise<string> => (await rotateCallbackSecret(ledger, 'acme', now)).secret;

it('the first secret stays for a caller that found none and is late to write its own', async () => {
  const { secret } = await readCallbackSecrets(ledger, 'acme', 1);
  const stale = vi.spyOn(ledger.redis, 'get').mockResolvedValueOnce(null);
  expect((await readCallbackSecrets(ledger, 'acme', 2)).secret).toBe(secret);
  stale.mockRestore();
  expect((await readCallbackSecrets(ledger, 'acme', 3)).secret).toBe(secret);
});

it('a secret signs together with the one before for its time, and then alone', async () => {
  const [one, two] = [`whsec_${btoa('one')}`, `whsec_${btoa('two')}`];
  await ledger.redis.set(key, JSON.stringify({ secret: two, previous: one, createdAt: 1000 }));
  expect(await signing({ one, two }, 1499)).toEqual(['one', 'two']);
  expect(await signing({ one, two }, 1500)).toEqual(['two']);
});

it('a change that is repeated does not end the secret that receivers know before its time', async () => {
  const { secret: a } = await readCallbackSecrets(ledger, 'acme', 0);
  const secrets = { a, b: await rotate(1000), c: await rotate(1100) };
  expect(await signing(secrets, 1499)).toEqual(['a', 'b', 'c']);
  expect(await signing(secrets, 1500)).toEqual(['b', 'c']);
  expect(await signing(secrets, 1600)).toEqual(['c']);
  expect(await ledger.redis.get(key)).toContain(a);
  await rotate(1600);
  expect(await ledger.redis.get(key)).not.toContain(a);
});

it('however often it is changed, the oldest secret signs for its time, with a bounded number of others', async () => {
  const { secret: a } = await readCallbackSecrets(ledger, 'acme', 0);
  const changed: string[] = [];
  for (let time = 0; time < 20; time += 1) changed.push(await rotate(1000 + time));
  expect(await signing({ a, last: changed.at(-1) ?? '', before: changed.at(-2) ?? '' }, 1499)).toEqual(['a', 'last', 'before']);
  expect(await signing(Object.fromEntries(changed.map((secret, at) => [`n${at}`, secret])), 1499)).toHaveLength(6);
});

it('of changes at the same time none is lost: each secret that was answered signs', async () => {
  const { secret: a } = await readCallbackSecrets(ledger, 'acme', 0);
  const [b, c, d] = await Promise.all([rotate(1000), rotate(1000), rotate(1000)]);
  expect(await signing({ a, b, c, d }, 1100)).toEqual(['a', 'b', 'c', 'd']);
});

it('a tenant that has ended gets no secret', async () => {
  const { keys, redis } = ledger;
  await redis.hset(keys.shard(keys.shardOf('acme')).tenantStates, 'acme', 'ended');
  await expect(readCallbackSecrets(ledger, 'acme', 1)).rejects.toMatchObject({ code: 'tenant.ended' });
  await expect(rotate(1)).rejects.toMatchObject({ code: 'tenant.ended' });
  expect(await redis.get(key)).toBeNull();
});
