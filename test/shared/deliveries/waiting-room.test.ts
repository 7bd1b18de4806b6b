import { expect, it } from 'vitest';
import { WaitingRoom } from '#shared/deliveries/waiting-room.ts';
import { useParts } from '../../support/use-parts.ts';

const { events, queues, keys, log } = await useParts();

it('a delivery of which no word comes is forgotten, and no longer listened for', () => {
  let now = 0;
  const listening = new Set<string>();
  const heard: Pick<typeof events, 'onTask'> = {
    onTask: (_tenant, task) => {
      listening.add(task);
      return () => listening.delete(task);
    },
  };
  const room = new WaitingRoom({ events: heard, queues, keys, log, keepMs: 1000, clock: { monotonic: () => now } });
  const add = (task: string): void => room.add({ tenant: 'acme', task, kind: 'reply', number: 0 });
  add('first');
  now = 900;
  add('second');
  add('second');
  expect([room.size, listening.size]).toEqual([2, 2]);
  now = 1500;
  add('third');
  expect([...listening]).toEqual(['second', 'third']);
  room.add({ tenant: 'other', task: 'third', kind: 'reply', number: 0 });
  expect(room.size).toBe(3);
  room.close();
  expect([room.size, listening.size]).toEqual([0, 0]);
});
