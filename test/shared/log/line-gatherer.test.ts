import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createLog } from '#shared/log/create-log.ts';
import type { Log } from '#shared/log/index.ts';
import { LineGatherer } from '#shared/log/line-gatherer.ts';

let written: string[];
let gatherer: LineGatherer;
let log: Log;
beforeEach(() => {
  vi.useFakeTimers();
  written = [];
  gatherer = new LineGatherer({ write: (lines) => void written.push(lines) });
  log = createLog({ level: 'debug', service: 'test', destination: gatherer });
});
afterEach(() => {
  vi.useRealTimers();
});

const messages = (lines = ''): string[] =>
  lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { msg: string }).msg);

it('lines that are logged soon after each other are written at once, in their order', () => {
  log.info('one');
  log.debug('two');
  log.child({ trace: 't' }).info('three');
  expect(written).toEqual([]);
  vi.runAllTimers();
  expect(written.map(messages)).toEqual([['one', 'two', 'three']]);
  log.info('four');
  vi.runAllTimers();
  expect(written.map(messages)[1]).toEqual(['four']);
});

it.each(['warn', 'error', 'fatal'] as const)('a line of level %s is written when it is logged, after those before it', (level) => {
  log.info('before');
  log[level]('now');
  expect(written.map(messages)).toEqual([['before', 'now']]);
  log.info('later');
  expect(written).toHaveLength(1);
});

it('lines are written without a wait once they are many', () => {
  for (let count = 0; count < 100; count += 1) log.info('x'.repeat(1000));
  expect(written).toHaveLength(1);
  gatherer.flush();
  expect(written.flatMap(messages)).toHaveLength(100);
});

it('nothing is written where nothing waits', () => {
  gatherer.flush();
  expect(written).toEqual([]);
});
