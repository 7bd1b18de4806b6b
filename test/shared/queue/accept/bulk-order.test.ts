import { describe, expect, it } from 'vitest';
import { tenantLimitsSchema, type TenantLimits } from '#shared/config/settings/limits-settings.ts';
import { MusterError } from '#shared/errors/error-codes.ts';
import { createLedger, type Ledger } from '#shared/ledger/ledger.ts';
import { acceptTask, type Accepted } from '#shared/queue/accept/accept-task.ts';
import { acceptTasks } from '#shared/queue/accept/accept-tasks.ts';
import type { AcceptRequest, Intake } from '#shared/queue/accept/request.ts';
import { useEmptyParts } from '../../../support/use-parts.ts';

const MANY = 120;
const SESSIONS = 3;
const parts = await useEmptyParts({
  agents: { echo: { kind: 'echo' }, capped: { kind: 'echo', maxRunning: 2 } },
  limits: { backpressure: { warningDepth: 20, criticalDepth: 40 } },
});
let tenant = '';
let tenants = 0;

/** What a bulk has at each of its places; every item has its own key. */
type Items = (at: number) => Partial<AcceptRequest>;

function bulkOf(items: Items, count = MANY): AcceptRequest[] {
  return Array.from({ length: count }, (_, at) => {
    const own = { session: `s${at % SESSIONS}`, idempotencyKey: `k${at}`, ...items(at) };
    return { tenant, agent: 'echo', input: `${at}`, ...own };
  });
}

/** Accepts for a tenant with these limits and no others. */
function intakeWith(limits: Partial<TenantLimits>): Intake {
  const all = tenantLimitsSchema.parse({ running: null, waiting: null, runningByClass: {}, runningLow: null, rates: {}, ...limits });
  return { ...parts, ledger: createLedger({ ...parts.ledger, limitsOf: () => all }) };
}

const codeOf = (result: Accepted | Error): string => (result instanceof MusterError ? result.code : result instanceof Error ? 'error' : '');

const idOf = (result: Accepted | Error): string => (result as Accepted).id;

/** The places of the tasks of each session, in the order in which they start. */
async function startOrder(): Promise<number[][]> {
  const keys = parts.keys.tenant(tenant);
  const sessions = Array.from({ length: SESSIONS }, (_, session) => `session:s${session}`);
  return await Promise.all(
    sessions.map(async (lane) => {
      const ids = [
        ...(await parts.redis.zrange(keys.laneHeld(lane), '0', '-1')),
        ...(await parts.redis.zrange(keys.laneWait(lane), '0', '-1')),
      ];
      const bodies = ids.length === 0 ? [] : await parts.redis.hmget(keys.bodies, ...ids);
      return bodies.map((body) => Number((JSON.parse(body ?? '{}') as { input?: string }).input));
    }),
  );
}

async function assertInOrder(): Promise<void> {
  for (const order of await startOrder()) expect(order).toEqual(order.toSorted((one, other) => one - other));
}

const third = (at: number): boolean => at % 7 === 3;

interface Form {
  limits?: Partial<TenantLimits>;
  items?: Items;
  before?: () => Promise<unknown>;
  /** What some of them are refused with the first time, and taken with when they are sent again. */
  refused?: string;
}

const FORMS: Record<string, Form> = {
  'that nothing holds back': {},
  'when a cap is full in the middle': { limits: { running: 2 } },
  'when a cap of a class is full in the middle': { limits: { runningByClass: { user: 1 } }, items: (at) => ({ priority: at % 2 ? 5 : 8 }) },
  'when their agent runs only so many': { items: (at) => ({ agent: at < 20 ? 'echo' : 'capped' }) },
  'when the limit on waiting tasks is reached': { limits: { running: 2, waiting: 50 }, refused: 'limit.waiting' },
  'when a rate is used up': { limits: { rates: { user: { perMinute: 1, perHour: 1000, burst: 70 } } }, refused: 'limit.rate' },
  'when the rate of one source is used up': {
    limits: { rates: { proactive: { perMinute: 1, perHour: 1000, burst: 4 } } },
    items: (at) => (third(at) ? { source: 'proactive' } : {}),
    refused: 'limit.rate',
  },
  'when some are shed under pressure': {
    before: () =>
      acceptTasks(
        parts,
        bulkOf((at) => ({ session: 'other', idempotencyKey: `other-${at}` }), 60),
      ),
    items: (at) => (at > 50 && third(at) ? { priority: 1 } : {}),
    refused: 'limit.pressure',
  },
  'when some have come before': {
    before: () =>
      acceptTasks(
        parts,
        bulkOf(() => ({}), 40),
      ),
  },
  'when some go by their mode': { items: (at) => (third(at) ? { mode: 'queue' } : {}) },
  'when some are steered or collected': { items: (at) => (third(at) ? { mode: at % 2 ? 'steer' : 'collect' } : {}) },
  'when some have attachments': {
    items: (at) => (third(at) ? { attachments: [{ url: 'https://files.example/a.png', mediaType: 'image/png', name: 'a.png' }] } : {}),
  },
  'when some are sub-tasks': {
    before: () => acceptTask(parts, { tenant, agent: 'echo', input: 'parent', id: PARENT }),
    items: (at) => (third(at) ? { parentTaskId: PARENT } : {}),
  },
  'when some have a deadline or an sla': {
    items: (at) => ({ ...(third(at) ? { deadline: '2099-01-01T00:00:00Z' } : {}), ...(at % 5 ? {} : { sla: '2099-01-01T00:00:00Z' }) }),
  },
  'when the server has forgotten the script': { before: () => parts.redis.script('FLUSH') },
};
const PARENT = '01KQS1C8ZV0G3P5T7W9X1Y2Z3A';

describe('the tasks of a session in one bulk start in its order', () => {
  it.each(Object.entries(FORMS))('%s; also when it is sent again', async (_what, { limits = {}, items = () => ({}), before, refused }) => {
    tenant = `bulk-${(tenants += 1)}`;
    await before?.();
    const requests = bulkOf(items);
    const results = await acceptTasks(intakeWith(limits), requests);
    expect([...new Set(results.map(codeOf))].toSorted()).toEqual(refused === undefined ? [''] : ['', refused]);
    await assertInOrder();
    const again = await acceptTasks({ ...intakeWith({}), ledger: unshed(intakeWith({}).ledger) }, requests);
    expect(again.map(codeOf)).toEqual(requests.map(() => ''));
    expect(again.filter((_, at) => !(results[at] instanceof Error)).map(idOf)).toEqual(
      results.filter((result) => !(result instanceof Error)).map(idOf),
    );
    await assertInOrder();
    expect((await startOrder()).flat()).toHaveLength(MANY);
  });

  it('when it is sent twice at once', async () => {
    tenant = 'twice';
    const requests = bulkOf(() => ({}));
    const [one, other] = await Promise.all([acceptTasks(intakeWith({ running: 1 }), requests), acceptTasks(intakeWith({}), requests)]);
    expect(one.map(idOf)).toEqual(other.map(idOf));
    await assertInOrder();
    expect((await startOrder()).flat()).toHaveLength(MANY);
  });

  it('when one of its calls fails, behind which no more of it are accepted', async () => {
    tenant = 'failing';
    const requests = bulkOf(() => ({}));
    const results = await acceptTasks(failingAt(2, intakeWith({})), requests);
    const accepted = results.map((result) => !(result instanceof Error));
    expect(accepted).toEqual(acceptedFirst(accepted));
    expect([...new Set(accepted)]).toEqual([true, false]);
    expect((await acceptTasks(intakeWith({}), requests)).map(codeOf)).toEqual(requests.map(() => ''));
    await assertInOrder();
  });

  it('and one that is refused for good lets those behind it in', async () => {
    tenant = 'refused';
    await acceptTasks(intakeWith({}), bulkOf(() => ({ session: 'other', input: 'another' }), 41).slice(40));
    const codes = (
      await acceptTasks(
        intakeWith({}),
        bulkOf((at) => (at === 3 ? { agent: 'nobody' } : at === 10 ? { parentTaskId: PARENT } : {})),
      )
    ).map(codeOf);
    expect(Object.fromEntries(codes.entries().filter(([, code]) => code !== ''))).toEqual({
      3: 'agent.unknown',
      10: 'task.not-found',
      40: 'task.idempotency-conflict',
    });
    await assertInOrder();
  });

  it('and one that is refused as Redis goes away leaves the others their answers', async () => {
    tenant = 'uncounted';
    await acceptTask(parts, { tenant, agent: 'echo', input: 'parent', id: PARENT });
    const { ledger, ...intake } = intakeWith({ rates: { delegation: { perMinute: 1, perHour: 1000, burst: 1 } } });
    const redis = new Proxy(ledger.redis, {
      get: (own, name) => {
        if (name === 'hincrby') return () => Promise.reject(new Error('Connection is closed.'));
        const value: unknown = Reflect.get(own, name);
        return typeof value === 'function' ? value.bind(own) : value;
      },
    });
    const requests = bulkOf((at) => (at === 1 || at === 2 ? { parentTaskId: PARENT } : {}), 4);
    const results = await acceptTasks({ ...intake, ledger: { ...ledger, redis } }, requests);
    expect(results.map(codeOf)).toEqual(['', '', 'limit.rate', '']);
  });

  it('while another bulk takes the last of a rate, whoever gets it', async () => {
    tenant = 'rated';
    const intake = intakeWith({ rates: { user: { perMinute: 1, perHour: 1000, burst: 100 } } });
    const bulks = [bulkOf(() => ({})), bulkOf((at) => ({ idempotencyKey: `b${at}`, session: `t${at % SESSIONS}` }))];
    const results = await Promise.all(bulks.map((bulk) => acceptTasks(intake, bulk)));
    expect(results.flat().filter((result) => !(result instanceof Error))).toHaveLength(100);
    for (const each of results) {
      const places = each.map((result, at) => ({ session: at % SESSIONS, isIn: !(result instanceof Error) }));
      for (let session = 0; session < SESSIONS; session += 1) {
        const own = places.filter((place) => place.session === session).map(({ isIn }) => isIn);
        expect(own).toEqual(acceptedFirst(own));
      }
    }
  });
});

const acceptedFirst = (accepted: readonly boolean[]): boolean[] => [...accepted.filter(Boolean), ...accepted.filter((each) => !each)];

/** Without the n-th call that accepts, which never gets to the server. */
function failingAt(failing: number, { ledger, ...intake }: Intake): Intake {
  let calls = 0;
  const run: Ledger['run'] = async (name, ...call) => {
    if (name === 'accept-tasks' && (calls += 1) === failing) throw new Error('Connection is closed.');
    return await ledger.run(name, ...call);
  };
  return { ...intake, ledger: { ...ledger, run } };
}

/** A ledger that refuses nothing under pressure. */
function unshed(ledger: Ledger): Ledger {
  const { settings } = ledger;
  const backpressure = { ...settings.limits.backpressure, shed: false };
  return { ...ledger, settings: { ...settings, limits: { ...settings.limits, backpressure } } };
}
