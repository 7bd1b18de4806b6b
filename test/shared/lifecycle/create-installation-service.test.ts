import { afterEach, beforeEach, expect, it } from 'vitest';
import { openFleet, type Fleet } from '../../support/fleet-processes.ts';

let fleet: Fleet;

beforeEach(async () => {
  fleet = await openFleet();
});
afterEach(() => fleet.stop());

const EXIT_CONFIG = 78;
const WORDS = /SHARDS is 2, and what is in this Redis was written with SHARDS=1/;

it('a service that would look for everything in the wrong place does not start', async () => {
  await fleet.start('api');
  const other = await fleet.start('worker', { SHARDS: '2' });
  expect((await other.exited).code).toBe(EXIT_CONFIG);
  expect(other.lines.map(({ msg }) => msg).join('\n')).toMatch(WORDS);
});

it('one that started before Redis ends when Redis is there', async () => {
  await fleet.start('api');
  await fleet.redis.kill('SIGKILL');
  const other = await fleet.start('worker', { SHARDS: '2' });
  await fleet.redis.restart();
  expect((await other.exited).code).toBe(EXIT_CONFIG);
  expect(other.lines.map(({ msg }) => msg).join('\n')).toMatch(WORDS);
});
