import { beforeEach, describe, expect, it } from 'vitest';
import type { AgentFunction } from '#shared/config/define-config.ts';
import { QUEUE_MODES } from '#shared/config/sources.ts';
import { isTerminal } from '#shared/tasks/transitions.ts';
import { useWorker } from '../../../support/use-worker.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { useApi } from '../support/use-api.ts';

/** Ends what was asked to hold on. */
const holding: (() => void)[] = [];

/** Says what it was asked, with what came meanwhile, and what was said before where it is asked to. */
const parrot: AgentFunction = async (task, { input, history, signal }) => {
  if (task.input.includes('hold on')) {
    await new Promise<void>((resolve) => {
      holding.push(resolve);
      signal.addEventListener('abort', () => resolve());
    });
  }
  const turns = task.input.includes('what did we say') ? await history() : [];
  const more = await input();
  return [...turns.map((turn) => turn.output), task.input, ...more.map(({ text }) => text)].join('\n');
};

const api = await useApi({
  agents: { parrot: { kind: 'function', run: parrot } },
  routing: { agent: 'parrot', queue: { carryInterrupted: true, collect: { debounceMs: 0, cap: 2 } } },
});
await useWorker(api.parts);

const COMMAND = '/schedule in 1 hour: stolen';
let sessions = 0;
let session: string;
let visitor: string;

beforeEach(async () => {
  sessions += 1;
  session = `s${sessions}`;
  visitor = (await api.call('POST', `/v1/sessions/${session}/visitors`, { body: { name: 'owner' } })).body.token;
  for (const { id } of await schedules()) await api.call('DELETE', `/v1/schedules/${id}`);
});

async function say(text: string, mode: string, key?: string): Promise<string> {
  // A visitor may be called like the one who owns the session.
  const body = key === undefined ? { text, mode, user: 'owner' } : { text, mode };
  const { status, body: answer } = await api.call('POST', `/v1/sessions/${session}/messages`, {
    body,
    ...(key === undefined ? {} : { key }),
  });
  expect(status).toBe(202);
  return answer.id;
}

async function schedules(): Promise<{ id: string; message: string }[]> {
  return (await api.call('GET', '/v1/schedules')).body.items;
}

type Seen = { id: string; status: string; input: string; output: string | null };
const tasks = async (): Promise<Seen[]> => (await api.call('GET', `/v1/tasks?session=${session}`)).body.items;
const read = async (id: string): Promise<Seen> => (await api.call('GET', `/v1/tasks/${id}`)).body;

async function allEnd(): Promise<Seen[]> {
  return await waitFor(
    async () => {
      for (const release of holding.splice(0)) release();
      const found = await tasks();
      return found.every(({ status }) => isTerminal(status as never)) ? found : null;
    },
    { deadlineMs: 10_000, everyMs: 30, what: 'all of them to end' },
  );
}

const runs = async (id: string): Promise<unknown> =>
  await waitFor(async () => (await read(id)).status === 'running' && holding.length > 0, { deadlineMs: 8000, what: 'it to run' });

describe("a visitor's words", () => {
  it.each(QUEUE_MODES)('are in no turn but their own, and carry out nothing, in mode %s', async (mode) => {
    await runs(await say('hold on', mode));
    const theirs = [await say(COMMAND, mode, visitor)];
    await say('mine', mode);
    theirs.push(await say(`${COMMAND} twice`, mode, visitor), await say(`${COMMAND} three`, mode, visitor));
    await say('mine again', mode);
    const ended = await allEnd();
    expect(ended).toHaveLength(6);
    for (const { id, output } of ended.filter((task) => !theirs.includes(task.id))) {
      expect([id, output ?? '']).toEqual([id, expect.not.stringContaining('stolen')]);
    }
    for (const { id, output } of ended.filter((task) => theirs.includes(task.id))) {
      expect([id, output ?? '']).toEqual([id, expect.not.stringContaining('mine')]);
    }
    expect(await schedules()).toEqual([]);
  });

  it.each(['owner', 'visitor'])('do not come along from what the %s interrupted', async (who) => {
    const [first, second] = who === 'owner' ? [visitor, undefined] : [undefined, visitor];
    await runs(await say(`hold on\n${first === undefined ? 'mine' : COMMAND}`, 'interrupt', first));
    const next = await say(second === undefined ? 'mine' : COMMAND, 'interrupt', second);
    await allEnd();
    expect((await read(next)).output).toBe(second === undefined ? 'mine' : COMMAND);
    expect(await schedules()).toEqual([]);
  });

  it('command nothing where they are a part of the transcript', async () => {
    await say(COMMAND, 'queue', visitor);
    await allEnd();
    const asked = await say('what did we say', 'queue');
    await allEnd();
    expect((await read(asked)).output).toContain(COMMAND);
    expect(await schedules()).toEqual([]);
  });

  it('carry out nothing in a turn of theirs that its owner gave input to', async () => {
    const turn = await say(`hold on\n${COMMAND}`, 'queue', visitor);
    await runs(turn);
    await api.call('POST', `/v1/tasks/${turn}/input`, { body: { text: '/schedule in 2 hours: mine' } });
    await allEnd();
    expect(await schedules()).toEqual([]);
  });
});

it('in a session without visitors the directives of the agent are applied', async () => {
  session = 'own';
  await runs(await say('hold on', 'collect'));
  await say('some', 'collect');
  await say('and\n/schedule in 1 hour: mine', 'collect');
  await allEnd();
  expect(await schedules()).toMatchObject([{ message: 'mine' }]);
});
