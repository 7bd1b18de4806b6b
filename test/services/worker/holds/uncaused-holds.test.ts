import { describe, expect, it } from 'vitest';
import type { TaskHold } from '#shared/errors/task-failure.ts';
import { holdTask } from '#shared/ledger/grants/hold-task.ts';
import { countHeld, releaseUncaused } from '#shared/ledger/grants/release-held.ts';
import { pauseAgent } from '#shared/ledger/settle/paused-agents.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { useEmptyParts } from '../../../support/use-parts.ts';

const TENANT = 'default';
const parts = await useEmptyParts({ agents: { writer: { kind: 'echo' } } });

const hold = async (by: TaskHold): Promise<void> => {
  const { id } = await acceptTask(parts, { tenant: TENANT, agent: 'writer', input: 'x' });
  await holdTask(parts.ledger, { tenant: TENANT, id, hold: by, until: null });
};
const release = async (): Promise<number> => await releaseUncaused(parts.ledger, TENANT, 10);

describe('tasks that are held', () => {
  it.each([
    ['agent', 'writer'],
    ['failures', 'writer'],
    ['circuit', 'writer http://127.0.0.1'],
  ] as const)('go on when the cause of the hold is gone and nobody released them: %s', async (gate, what) => {
    await hold({ gate, what });
    expect([await release(), await countHeld(parts.ledger, TENANT, { gate, what })]).toEqual([1, 0]);
  });

  it('stay while it lasts', async () => {
    await pauseAgent(parts.ledger, { tenant: TENANT, agent: 'writer' }, { at: Date.now(), by: 'somebody', reason: null });
    await hold({ gate: 'agent', what: 'writer' });
    expect(await release()).toBe(0);
  });

  it.each(['repeats', 'provider', 'daemon'] as const)('stay where others end the hold: %s', async (gate) => {
    await hold({ gate, what: 'api/writer/digest' });
    expect(await release()).toBe(0);
  });
});
