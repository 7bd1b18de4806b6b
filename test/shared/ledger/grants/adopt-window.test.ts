import { expect, it } from 'vitest';
import { adoptWindow } from '#shared/ledger/grants/adopt-window.ts';
import { DONE, TENANT } from '../support/test-ledger.ts';
import { useCheckedLedger } from '../support/use-ledger.ts';

const test = await useCheckedLedger();

it('tasks whose tickets 0.1 gave to BullMQ alone wait for a slot again, and others stay as they are', async () => {
  const { ready, window, jobs } = test.keys.shard(0);
  const waiting = [await test.accepted(), await test.accepted({ priority: 8 })];
  // As 0.1 wrote them: a ticket in BullMQ's window is not among the ready ones.
  await test.redis.del(ready, jobs);
  const runs = await test.claimed(await test.accepted());
  const ended = await test.accepted();
  await test.completed(ended);
  const parked = await test.accepted({ scheduledFor: Date.now() + 3_600_000 });
  const all = [...waiting, runs.id, ended, parked, 'gone'];
  await test.redis.zadd(window, ...all.flatMap((id) => [5e9, `${TENANT}/${id}`]));

  expect(await adoptWindow(test.ledger, 0)).toBe(2);
  expect(await test.redis.exists(window)).toBe(0);
  expect(await adoptWindow(test.ledger, 0)).toBe(0);
  const started = await test.claimBest(10);
  expect(new Set(started.map(({ id }) => id))).toEqual(new Set(waiting));
  for (const held of [...started, runs]) await test.settle(held, DONE);
  expect(await test.statuses(...waiting, parked)).toEqual(['completed', 'completed', 'pending']);
});
