import { expect, test } from 'vitest';
import { QUEUE_MODES, type QueueMode } from '#shared/config/sources.ts';
import type { AttemptRef } from '#shared/ledger/claim/leases.ts';
import { takeInput } from '#shared/ledger/claim/take-input.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { read } from '../deploy/repository.ts';
import { driveTasks } from '../services/api/support/drive-tasks.ts';
import { useApi } from '../services/api/support/use-api.ts';
import { waitFor } from '../support/wait-for.ts';
import { helpOf } from './documents.ts';

const TENANT = 'default';

const api = await useApi({ routing: { queue: { collect: { debounceMs: 1 } } } });
const { ledger } = api.parts;
const drive = driveTasks(api.parts);

/** What two messages, `one` and `two`, do that meet the running task of their session. */
interface Effect {
  /** Whether the running task is asked to stop. */
  isStopped: boolean;
  /** The messages that go into the running task when it asks for input. */
  steered: string[];
  /** The outcomes that are final then. */
  outcomes: Record<string, string>;
}

interface ModeEffect {
  /** With nothing before them. */
  unblocked: Effect;
  /** Behind a message `waiting`, in mode `queue`, that does not go into a running task. */
  behind: Effect;
  /** The messages of the next turn. */
  nextTurn: string[];
}

const NOTHING: Effect = { isStopped: false, steered: [], outcomes: {} };
const BOTH: Effect = { isStopped: false, steered: ['one', 'two'], outcomes: { one: 'steered', two: 'steered' } };

/** As the documentation of the modes says; a mode without its line does not compile. */
const EFFECTS: Readonly<Record<QueueMode, ModeEffect>> = {
  queue: { unblocked: BOTH, behind: NOTHING, nextTurn: [] },
  steer: { unblocked: BOTH, behind: BOTH, nextTurn: [] },
  interrupt: {
    unblocked: { isStopped: true, steered: [], outcomes: { one: 'superseded' } },
    behind: { isStopped: true, steered: [], outcomes: { waiting: 'superseded', one: 'superseded' } },
    nextTurn: ['two'],
  },
  collect: { unblocked: NOTHING, behind: NOTHING, nextTurn: ['one', 'two'] },
  latest: {
    unblocked: { isStopped: false, steered: [], outcomes: { one: 'superseded' } },
    behind: { isStopped: false, steered: [], outcomes: { waiting: 'superseded', one: 'superseded' } },
    nextTurn: ['two'],
  },
  reject: {
    unblocked: { isStopped: false, steered: [], outcomes: { one: 'rejected', two: 'rejected' } },
    behind: { isStopped: false, steered: [], outcomes: { one: 'rejected', two: 'rejected' } },
    nextTurn: [],
  },
};

/** A running task, and the messages that met it, by their texts. */
interface Meeting {
  running: AttemptRef;
  messages: Map<string, string>;
}

async function send(session: string, text: string, body: object): Promise<string> {
  const reply = await api.call('POST', `/v1/sessions/${session}/messages`, { body: { text, ...body } });
  return reply.body.id;
}

async function meet(mode: QueueMode, session: string, isBehind: boolean): Promise<Meeting> {
  const running = await drive.start(await send(session, 'running', {}));
  const messages = new Map<string, string>();
  if (isBehind) messages.set('waiting', await send(session, 'waiting', { mode: 'queue', context: { noInput: true } }));
  for (const text of ['one', 'two']) messages.set(text, await send(session, text, { mode }));
  return { running, messages };
}

async function effectOf({ running, messages }: Meeting): Promise<Effect> {
  const steered = await take(running, 'steered');
  const state = (await readTask(ledger, TENANT, running.id))?.state;
  const outcomes: Record<string, string> = {};
  for (const [text, id] of messages) {
    const kind = (await readTask(ledger, TENANT, id))?.state.outcome?.kind;
    if (kind !== undefined) outcomes[text] = kind;
  }
  return { isStopped: state?.cancel !== undefined, steered, outcomes };
}

async function take(attempt: AttemptRef, how: 'steered' | 'merged'): Promise<string[]> {
  const answer = await takeInput(ledger, attempt, how, 10);
  return answer.kind === 'taken' ? answer.inputs.map(({ text }) => text) : [];
}

/** Ends the running task, and begins the turn after it. */
async function nextTurnOf({ running, messages }: Meeting): Promise<string[]> {
  await drive.end(running, 'done');
  for (const [text, id] of messages) {
    if ((await readTask(ledger, TENANT, id))?.state.outcome !== undefined) continue;
    const isQueued = async (): Promise<boolean> => (await readTask(ledger, TENANT, id))?.state.status === 'queued';
    await waitFor(isQueued, { deadlineMs: 5000, what: `the turn of ${text}` });
    return [text, ...(await take(await drive.start(id), 'merged'))];
  }
  return [];
}

test.each(QUEUE_MODES)('messages in mode %s have their documented effect, by the scripts of the ledger', async (mode) => {
  const unblocked = await meet(mode, `${mode}-unblocked`, false);
  const behind = await meet(mode, `${mode}-behind`, true);
  const effect = { unblocked: await effectOf(unblocked), behind: await effectOf(behind), nextTurn: await nextTurnOf(unblocked) };
  expect(effect).toEqual(EFFECTS[mode]);
});

test('no two modes have the same effect', () => {
  const effects = Object.values(EFFECTS).map((effect) => JSON.stringify(effect));
  expect(new Set(effects).size).toBe(QUEUE_MODES.length);
});

test.each(QUEUE_MODES)('the mode %s is in the documentation and in the help of the command line', (mode) => {
  expect(read('docs/sessions.md')).toMatch(new RegExp(`^\\| \`${mode}\` \\|`, 'm'));
  expect(helpOf('send')).toContain(`"${mode}"`);
});
