import { expect, it } from 'vitest';
import { acceptNewTask } from '#shared/ledger/accept/accept-task.ts';
import { claimTask } from '#shared/ledger/claim/claim-task.ts';
import { listRunning } from '#shared/ledger/read/list-running.ts';
import { settleAttempt } from '#shared/ledger/settle/settle-attempt.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { aTask, DONE } from '../support/test-ledger.ts';
import { useLedger } from '../support/use-ledger.ts';

const test = await useLedger();

async function accept(tenant: string): Promise<string> {
  const answer = await acceptNewTask(test.ledger, aTask({ tenant }));
  if (answer.kind !== 'accepted') throw new Error(`The task was not accepted: ${answer.kind}`);
  return answer.id;
}

const idsThatRun = async (): Promise<string[]> => (await listRunning(test.ledger, 0)).map(({ tenant, task }) => `${tenant} ${task}`);

it('lists the tasks that workers hold, of all tenants, in the order of their start', async () => {
  const [first, second, third] = [await accept('acme'), await accept('other'), await accept('acme')];
  await accept('acme');
  expect(await idsThatRun()).toEqual([]);
  const starts: number[] = [];
  for (const [tenant, id] of [
    ['acme', third],
    ['other', second],
    ['acme', first],
  ] as const) {
    const answer = await claimTask(test.ledger, { tenant, id, lane: null }, 'w1');
    if (answer.kind !== 'claimed') throw new Error(`The task was not claimed: ${answer.kind}`);
    starts.push(answer.state.startedAt ?? 0);
    // The next start is a later one.
    await waitFor(() => Date.now() > (starts.at(-1) ?? 0), { deadlineMs: 1000, what: 'a later time' });
  }
  expect(await idsThatRun()).toEqual([`acme ${third}`, `other ${second}`, `acme ${first}`]);
  const [{ state } = { state: null }] = await listRunning(test.ledger, 0);
  expect(state).toMatchObject({ status: 'running', queue: 'tasks', worker: 'w1', startedAt: starts[0] });
  await settleAttempt(test.ledger, { tenant: 'other', id: second, lane: null, token: 1 }, DONE);
  expect(await idsThatRun()).toEqual([`acme ${third}`, `acme ${first}`]);
});
