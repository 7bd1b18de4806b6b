import { afterEach, expect, it } from 'vitest';
import { createLog } from '#shared/log/create-log.ts';
import { connectRedis } from '#shared/redis/connect-redis.ts';
import { createKeys } from '#shared/redis/keys.ts';
import { wait } from '#shared/time/wait.ts';
import { reportFigure } from '../../support/fleet/figures.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { waitFor } from '../../support/wait-for.ts';
import type { Reply } from '../../support/call-api.ts';

let fleet: Fleet;
afterEach(async () => {
  await fleet.stop();
});

const OVERLOAD_MS = 30_000;
/** Fifty tasks a second for four slots of 400 ms: five times what they can do. */
const EVERY_MS = 20;
const WORK = { workMs: [400] };
const CHAT_EVERY = 150;
const KINDS = [
  ...Array.from({ length: 5 }, () => ({ source: 'proactive' }) as const),
  ...Array.from({ length: 4 }, () => ({ priority: 'low' }) as const),
  {},
];

async function pressureEvents(): Promise<Record<string, string>[]> {
  const redis = connectRedis({ url: fleet.redis.url, name: 'events', log: createLog({ level: 'silent', service: 'test' }) });
  const entries = await redis.xrange(createKeys(1).tenant('default').events, '-', '+');
  redis.disconnect();
  return entries
    .map(([, fields]) => Object.fromEntries(fields.flatMap((name, at) => (at % 2 === 0 ? [[name, fields[at + 1] ?? '']] : []))))
    .filter(({ event }) => event?.startsWith('backpressure.'));
}

it('refuses what can wait at five times the capacity, goes on with the rest, and announces the end once', async () => {
  const backpressure = { warningDepth: 40, criticalDepth: 80, criticalWaitMs: null, warningWaitMs: null };
  const settings = { limits: { backpressure }, events: { maxPerTenant: 100_000 } };
  fleet = await openFleet({ settings, env: { MUSTER_QUEUES: 'chat=1,tasks=2,background=1,maintenance=1' } });
  await fleet.start('api');
  await fleet.start('worker');

  const sent: Promise<Reply>[] = [];
  const chats: Promise<Reply>[] = [];
  const endsAt = performance.now() + OVERLOAD_MS;
  while (performance.now() < endsAt) {
    const request = { agent: 'work', input: `${sent.length}`, context: WORK, ...KINDS[sent.length % KINDS.length] };
    if (sent.length % CHAT_EVERY === 0) {
      const body = { text: 'hello', agent: 'echo' };
      chats.push(fleet.client.call('POST', `/v1/sessions/person-${chats.length}/messages`, { body }));
    }
    sent.push(fleet.client.call('POST', '/v1/tasks', { body: request }));
    await wait(EVERY_MS);
  }
  const replies = await Promise.all(sent);
  const accepted = replies.filter(({ status }) => status === 202);
  const refused = replies.filter(({ status }) => status === 429);
  expect(accepted.length + refused.length).toBe(replies.length);
  expect(refused.length).toBeGreaterThan(0);
  expect([...new Set(refused.map(({ body }) => String(body.code)))]).toEqual(['limit.pressure']);
  expect(refused.every(({ headers }) => Number(headers.get('retry-after')) >= 5)).toBe(true);
  expect(replies.filter((_, n) => n % KINDS.length === KINDS.length - 1).every(({ status }) => status === 202)).toBe(true);
  expect(accepted.some(({ body }) => body.pressure?.slowDown === 2)).toBe(true);

  const said = (await Promise.all(chats)).map(({ body }) => String(body.id));
  const ended = await fleet.client.ended([...said, ...accepted.map(({ body }) => String(body.id))], 120_000);
  expect(new Set(ended.map(({ status }) => status))).toEqual(new Set(['completed']));

  const cleared = async (): Promise<Record<string, string>[]> =>
    (await pressureEvents()).filter(({ event }) => event === 'backpressure.cleared');
  await waitFor(async () => (await cleared()).length > 0, { deadlineMs: 20_000, what: 'the end of the pressure' });
  const events = await cleared();
  expect(events).toHaveLength(1);
  const counts = Object.values(JSON.parse(events[0]?.['shed'] ?? '{}') as Record<string, number>);
  expect(counts.reduce((sum, each) => sum + each, 0)).toBe(refused.length);
  expect((await pressureEvents()).filter(({ event }) => event === 'backpressure.shed').length).toBeLessThanOrEqual(4);
  reportFigure('overload', `${replies.length} sent, ${accepted.length} accepted, ${refused.length} refused, ${said.length} chats`);
});
