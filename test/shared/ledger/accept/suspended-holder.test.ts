import { describe, expect, it } from 'vitest';
import { promoteDue } from '#shared/ledger/grants/promote-tasks.ts';
import type { QueueMode } from '#shared/config/index.ts';
import { wait } from '#shared/time/wait.ts';
import { type TaskWish, TENANT } from '../support/test-ledger.ts';
import { useCheckedLedger } from '../support/use-ledger.ts';

const LANE = { name: 'session:s', limit: 1 };
const collect = { debounceMs: 60_000, longestWaitMs: 600_000, cap: 2 } as const;
const test = await useCheckedLedger({ routing: { queue: { collect } } });

const WISH: TaskWish = { lane: LANE, takesInput: true };

/** A suspended run that holds its lane, or whose lane others may have by now. */
async function suspended(gate: 'sleep' | 'question', holdsLane = true): Promise<string> {
  const held = await test.claimed(await test.accepted(WISH));
  const entry = { seq: 2, kind: gate, name: 'x', status: 'waiting', attempt: 1, startedAt: Date.now() } as const;
  const wish = { hold: { gate, what: 'x' }, entry, until: null, holdLaneMs: holdsLane ? 3_600_000 : 1 };
  await test.settle(held, { kind: 'suspended', reason: 'it waits', wait: wish });
  if (!holdsLane) {
    await wait(5);
    await promoteDue(test.ledger, TENANT, [held.id]);
  }
  return held.id;
}

/** What a message is, and what the suspended run is after it, by its mode. */
type Outcome = [message: string, run: string];

const AT_SLEEP: Record<QueueMode, Outcome> = {
  queue: ['pending', 'suspended'],
  collect: ['pending', 'suspended'],
  steer: ['pending', 'suspended'],
  interrupt: ['queued', 'cancelled'],
  latest: ['queued', 'cancelled'],
  reject: ['cancelled', 'suspended'],
};
/** A person is asked: only `/stop` ends it. */
const AT_QUESTION: Record<QueueMode, Outcome> = {
  ...AT_SLEEP,
  interrupt: ['pending', 'suspended'],
  latest: ['pending', 'suspended'],
};

const modes = Object.keys(AT_SLEEP) as QueueMode[];
const meet = async (mode: QueueMode, run: string): Promise<Outcome> => {
  const id = await test.accepted({ ...WISH, mode });
  return [(await test.state(id)).status, (await test.state(run)).status];
};

describe('a message that meets a suspended run', () => {
  it.each(modes)('which sleeps in its lane, in mode %s', async (mode) => {
    expect(await meet(mode, await suspended('sleep'))).toEqual(AT_SLEEP[mode]);
  });

  it.each(modes)('which waits for an answer in its lane, in mode %s', async (mode) => {
    expect(await meet(mode, await suspended('question'))).toEqual(AT_QUESTION[mode]);
  });

  it.each(modes)('which has left its lane, runs beside it in mode %s', async (mode) => {
    expect(await meet(mode, await suspended('question', false))).toEqual(['queued', 'suspended']);
  });
});
