import { expect, it } from 'vitest';
import { laneOfAgent } from '#shared/ledger/context.ts';
import { readSharedPlaces } from '#shared/ledger/read/read-lanes.ts';
import { DONE, limitsOf } from '../support/test-ledger.ts';
import { useCheckedLedger } from '../support/use-ledger.ts';

const test = await useCheckedLedger();
const capped = { sharedLanes: [{ name: laneOfAgent('echo'), limit: 1 }] };

it('grants as many tasks of an agent as its tenant has at the moment, not as many as when they were accepted', async () => {
  const first = await test.accepted(capped);
  const [second, third, fourth] = [await test.accepted(capped), await test.accepted(capped), await test.accepted(capped)];
  expect(await test.statuses(first, second, third, fourth)).toEqual(['queued', 'pending', 'pending', 'pending']);
  test.limits = limitsOf({ runningByAgent: { echo: 3 } });
  await test.completed(first);
  expect(await test.statuses(second, third, fourth)).toEqual(['queued', 'queued', 'queued']);
  test.limits = limitsOf({ runningByAgent: { echo: 2 } });
  const last = await test.accepted(capped);
  await test.settle(await test.claimed(second), DONE);
  expect(await test.statuses(third, fourth, last)).toEqual(['queued', 'queued', 'pending']);
  expect(await readSharedPlaces(test.ledger, await test.read(last))).toMatchObject([{ name: 'agent:echo', isFull: true }]);
  await test.completed(third);
  expect(await test.statuses(last)).toEqual(['queued']);
  await test.completed(fourth);
});
