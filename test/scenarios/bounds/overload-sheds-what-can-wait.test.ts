import { afterEach, expect, it } from 'vitest';
import { createLog } from '#shared/log/create-log.ts';
import { connectRedis } from '#shared/redis/connect-redis.ts';
import { createKeys } from '#shared/redis/keys.ts';
import { wait } from '#shared/time/wait.ts';
import { percentile } from '../../bench/statistics.ts';
import { reportFigure } from '../../support/fleet/figures.ts';
import { WAITING_AGENT } from '../../support/fleet/mixed-work.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { testEnvironment } from '../../support/test-environment.ts';
import { waitFor } from '../../support/wait-for.ts';
import type { Reply } from '../../support/call-api.ts';

let fleet: Fleet;
afterEach(async () => {
  await fleet.stop();
});

const OVERLOAD_MS = testEnvironment.isChaos ? testEnvironment.chaosMinutes * 60_000 : 8000;
/** Fifty tasks a second for four slots of 400 ms: five times what they can do. */
const EVERY_MS = 20;
const WORK = { workMs: 400 };
const CHAT_EVERY = 25;
/** Between two events that count refused tasks. */
const SHED_EVENT_MS = 10_000;
const KINDS = [
  ...Array.from({ length: 5 }, () => ({ source: 'proactive' }) as const),
  ...Array.from({ length: 4 }, () => ({ priority: 'low' }) as const),
  {},
];

interface PressureEvent {
  event: string;
  /** Redis's time, ms. */
  at: number;
  shed: string | undefined;
}

async function pressureEvents(): Promise<PressureEvent[]> {
  const redis = connectRedis({ url: fleet.redis.url, name: 'events', log: createLog({ level: 'silent', service: 'test' }) });
  const entries = await redis.xrange(createKeys(1).tenant('default').events, '-', '+');
  redis.disconnect();
  return entries
    .map(([id, fields]) => ({ event: valueOf(fields, 'event') ?? '', at: Number.parseInt(id, 10), shed: valueOf(fields, 'shed') }))
    .filter(({ event }) => event.startsWith('backpressure.'));
}

/** Of the names and values that a stream's entry has in turn. */
function valueOf(fields: readonly string[], name: string): string | undefined {
  return fields.find((_, at) => at % 2 === 1 && fields[at - 1] === name);
}

it('refuses what can wait at five times the capacity, goes on with the rest, and announces the end once', async () => {
  const backpressure = { warningDepth: 40, criticalDepth: 80, criticalWaitMs: null, warningWaitMs: null };
  const settings = { agents: WAITING_AGENT, limits: { backpressure }, events: { maxPerTenant: 1_000_000 } };
  fleet = await openFleet({ settings, env: { MUSTER_QUEUES: 'chat=1,tasks=2,background=1,maintenance=1' } });
  await fleet.start('api');
  await fleet.start('worker');

  const sent: Promise<Reply>[] = [];
  const chats: Promise<Reply>[] = [];
  const endsAt = performance.now() + OVERLOAD_MS;
  while (performance.now() < endsAt) {
    const request = { agent: 'wait', input: `${sent.length}`, context: WORK, ...KINDS[sent.length % KINDS.length] };
    if (sent.length % CHAT_EVERY === 0) {
      const body = { text: 'hello', agent: 'wait', context: { workMs: 100 } };
      chats.push(fleet.client.call('POST', `/v1/sessions/person-${chats.length}/messages`, { body }));
    }
    sent.push(fleet.client.call('POST', '/v1/tasks', { body: request }));
    await wait(EVERY_MS);
  }
  const overAt = Date.now();
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
  const ended = await fleet.client.ended([...said, ...accepted.map(({ body }) => String(body.id))], 300_000);
  expect(new Set(ended.map(({ status }) => status))).toEqual(new Set(['completed']));

  const cleared = async (): Promise<PressureEvent[]> => (await pressureEvents()).filter(({ event }) => event === 'backpressure.cleared');
  await waitFor(async () => (await cleared()).length > 0, { deadlineMs: 20_000, what: 'the end of the pressure' });
  const events = await cleared();
  expect(events).toHaveLength(1);
  const counts = Object.values(JSON.parse(events[0]?.shed ?? '{}') as Record<string, number>);
  expect(counts.reduce((sum, each) => sum + each, 0)).toBe(refused.length);
  expect((await pressureEvents()).filter(({ event }) => event === 'backpressure.shed').length).toBeLessThanOrEqual(
    OVERLOAD_MS / SHED_EVENT_MS + 1,
  );
  const waits = ended.slice(0, said.length).map(({ createdAt, startedAt }) => Date.parse(startedAt ?? '') - Date.parse(createdAt));
  const idleAt = Math.max(...ended.map(({ completedAt }) => Date.parse(completedAt ?? '')));
  reportFigure(
    `overload of ${OVERLOAD_MS / 1000} s`,
    `${replies.length} sent: ${accepted.length} accepted and completed, ${refused.length} refused and counted; ` +
      `${said.length} chats waited p50 ${percentile(waits, 0.5)} ms, p99 ${percentile(waits, 0.99)} ms; ` +
      `after its end the pressure was over in ${inSeconds((events[0]?.at ?? 0) - overAt)}, the backlog in ${inSeconds(idleAt - overAt)}`,
  );
});

function inSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
