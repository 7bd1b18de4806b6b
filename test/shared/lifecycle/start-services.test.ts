import { expect, test } from 'vitest';
import { type Service, startServices } from '#shared/lifecycle/service.ts';
import { createLog } from '#shared/log/create-log.ts';
import { wait } from '#shared/time/wait.ts';

const log = createLog({ level: 'silent', service: 'test' });

/** A service that notes what is done to it; `stopMs` is how long its stop takes. */
function noting(name: string, notes: string[], behaviour: { stopMs?: number; failsTo?: 'start' | 'stop' } = {}): Service {
  return {
    name,
    start: async () => {
      if (behaviour.failsTo === 'start') throw new Error(`${name} cannot start`);
      notes.push(`${name} started`);
    },
    stop: async (graceMs) => {
      if (behaviour.failsTo === 'stop') throw new Error(`${name} cannot stop`);
      await wait(behaviour.stopMs ?? 0);
      notes.push(`${name} stopped with ${graceMs > 0 ? 'time' : 'none'} left`);
    },
  };
}

test('services start in order and stop in reverse', async () => {
  const notes: string[] = [];
  const running = await startServices([noting('a', notes), noting('b', notes)], log);
  await running.stop(1000);
  expect(notes).toEqual(['a started', 'b started', 'b stopped with time left', 'a stopped with time left']);
});

test('when one cannot start, those before it are stopped and its error is thrown', async () => {
  const notes: string[] = [];
  const starting = startServices([noting('a', notes), noting('b', notes, { failsTo: 'start' }), noting('c', notes)], log);
  await expect(starting).rejects.toThrow('b cannot start');
  expect(notes).toEqual(['a started', 'a stopped with none left']);
});

test('one deadline is shared: what the first uses up the next does not have', async () => {
  const notes: string[] = [];
  const running = await startServices([noting('a', notes), noting('b', notes, { stopMs: 60 })], log);
  await running.stop(50);
  expect(notes.slice(2)).toEqual(['b stopped with time left', 'a stopped with none left']);
});

test('a service whose stop never ends does not keep the others from theirs', async () => {
  const notes: string[] = [];
  const hanging: Service = { name: 'hanging', start: async () => undefined, stop: () => new Promise(() => undefined) };
  const running = await startServices([noting('a', notes), hanging], log);
  await running.stop(10);
  expect(notes).toContain('a stopped with none left');
});

test('a service whose stop fails does not keep the others from theirs', async () => {
  const notes: string[] = [];
  const running = await startServices([noting('a', notes), noting('b', notes, { failsTo: 'stop' })], log);
  await running.stop(100);
  expect(notes).toContain('a stopped with time left');
});
