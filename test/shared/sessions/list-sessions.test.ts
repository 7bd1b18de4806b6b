import { describe, expect, it } from 'vitest';
import { cancelTask } from '#shared/ledger/change-task.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { handleMessage } from '#shared/sessions/handle-message.ts';
import { listSessions, type ListSessionsOptions } from '#shared/sessions/list-sessions.ts';
import { useEmptyParts } from '../../support/use-parts.ts';

/** It has no limits. */
const TENANT = 'default';

const parts = await useEmptyParts();

async function submit(session: string, tenant = TENANT): Promise<string> {
  return (await acceptTask(parts, { tenant, session, agent: 'echo', input: 'hello' })).id;
}

const write = (session: string, surface: string, user: string): Promise<unknown> =>
  handleMessage(parts, { tenant: TENANT, session, text: 'hello there', surface, user });

const cancel = async (id: string, session: string): Promise<void> => {
  await cancelTask(parts.ledger, { tenant: TENANT, id, lane: `session:${session}` }, 'test');
};

/** All pages, walked to the end. */
async function all(options: ListSessionsOptions): Promise<string[]> {
  const found: string[] = [];
  let after: string | undefined;
  do {
    const page = await listSessions(parts.ledger, TENANT, { ...options, after });
    expect(page.items.length).toBeLessThanOrEqual(options.limit);
    found.push(...page.items.map(({ id }) => id));
    after = page.next ?? undefined;
  } while (after !== undefined);
  return found;
}

const NAMES = ['a', 'a/b', 'a/12', 'a/01ARZ3NDEKTSV4RRFFQ69G5FAV', 'a%2Fb', 'a=b', 'a ', 'Zoë', 'session=a', '日本', '😀/x', 'pr-7'];

describe('the list of sessions', () => {
  it('has each session once, however many tasks it has and whatever its name is made of', async () => {
    for (const name of NAMES) for (let count = 0; count < 3; count += 1) await submit(name);
    for (let count = 0; count < 120; count += 1) await submit('busy');
    const found = await all({ limit: 3 });
    expect(found.toSorted()).toEqual([...NAMES, 'busy'].toSorted());
  });

  it('walks to the end in pages of any size', async () => {
    const names = Array.from({ length: 230 }, (_, number) => `s${String(number).padStart(3, '0')}`);
    await Promise.all(names.map((name) => submit(name)));
    for (const limit of [7, 100, 200]) expect(await all({ limit })).toEqual(names);
  });

  it('says who holds each, and what waits and why', async () => {
    const holder = await submit('busy');
    const next = await submit('busy');
    const last = await submit('busy');
    const { items } = await listSessions(parts.ledger, TENANT, { limit: 10 });
    expect(items).toEqual([
      {
        id: 'busy',
        mode: 'queue',
        modeSource: 'surface',
        surface: 'webchat',
        origin: 'api',
        lastTask: {
          id: last,
          agent: 'echo',
          source: 'api',
          status: 'pending',
          text: 'hello',
          user: null,
          userName: null,
          createdAt: expect.any(Number),
        },
        holder: { taskId: holder, startedAt: null, worker: null },
        waiting: [
          { taskId: next, text: 'hello', position: 1, reason: `behind task ${holder}` },
          { taskId: last, text: 'hello', position: 2, reason: `behind task ${next}` },
        ],
        waitingTotal: 2,
      },
    ]);
  });

  it('shows ten that wait of each, and counts all', async () => {
    for (let count = 0; count < 13; count += 1) await submit('busy');
    const [busy] = (await listSessions(parts.ledger, TENANT, { limit: 10 })).items;
    expect([busy?.waiting.length, busy?.waitingTotal]).toEqual([10, 12]);
  });

  it('has only the active ones when asked for them', async () => {
    await cancel(await submit('over'), 'over');
    await submit('active');
    expect(await all({ limit: 1, active: true })).toEqual(['active']);
    expect(await all({ limit: 1 })).toEqual(['active', 'over']);
  });

  it('begins with the newest task of all sessions when asked for activity, and has each session once', async () => {
    for (const name of ['a', 'b', 'c', 'a', 'd', 'b']) {
      await submit(name);
      await acceptTask(parts, { tenant: TENANT, agent: 'echo', input: 'of no session' });
    }
    const newest = new Map<string, string>();
    for (const { id, lastTask } of (await listSessions(parts.ledger, TENANT, { limit: 10 })).items) newest.set(id, lastTask?.id ?? '');
    const expected = [...newest.keys()].toSorted((a, b) => ((newest.get(a) ?? '') < (newest.get(b) ?? '') ? 1 : -1));
    for (const limit of [1, 3, 10]) expect(await all({ limit, sort: 'activity' })).toEqual(expected);
    expect(await all({ limit: 1, sort: 'activity', q: 'B' })).toEqual(['b']);
  });

  it('has only those whose id holds a text', async () => {
    for (const name of ['Telegram:7', 'slack:7', 'web']) await submit(name);
    expect(await all({ limit: 1, q: 'telegram' })).toEqual(['Telegram:7']);
    expect(await all({ limit: 1, q: ':7' })).toEqual(['Telegram:7', 'slack:7']);
  });

  it('has only those whose newest task a person wrote, or that came from a surface or a source', async () => {
    await submit('asked');
    await write('x-1', 'telegram', 'Ada L');
    await write('x-2', 'slack', 'grace');
    await write('x-3', 'slack', 'ada');
    await write('x-3', 'slack', 'grace');
    for (const sort of ['id', 'activity'] as const) {
      expect(await all({ limit: 1, sort, q: 'ADA' })).toEqual(['x-1']);
      expect((await all({ limit: 1, sort, q: 'grace' })).toSorted()).toEqual(['x-2', 'x-3']);
      expect((await all({ limit: 1, sort, origin: 'slack' })).toSorted()).toEqual(['x-2', 'x-3']);
      expect(await all({ limit: 1, sort, origin: 'telegram', q: 'x-' })).toEqual(['x-1']);
      expect(await all({ limit: 1, sort, origin: 'api' })).toEqual(['asked']);
    }
  });

  it('says where the newest task came from', async () => {
    await submit('asked');
    await handleMessage(parts, { tenant: TENANT, session: 'written', text: 'hello there', surface: 'telegram', user: 'ada' });
    expect((await listSessions(parts.ledger, TENANT, { limit: 2 })).items).toMatchObject([
      { id: 'asked', origin: 'api', lastTask: { source: 'api', user: null } },
      { id: 'written', origin: 'telegram', lastTask: { source: 'chat', text: 'hello there', user: 'ada' } },
    ]);
  });

  it('has nothing of another tenant', async () => {
    await submit('theirs', 'other');
    expect(await listSessions(parts.ledger, TENANT, { limit: 10 })).toEqual({ items: [], next: null });
  });
});
