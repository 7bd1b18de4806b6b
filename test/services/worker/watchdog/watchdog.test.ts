import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { dropBlame, readBlame } from '#shared/ledger/claim/blame.ts';
import { createKeys } from '#shared/redis/keys.ts';
import { childEnvironment } from '../../../support/test-environment.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { useRedis, useRedisClient } from '../../../support/redis/use-redis.ts';

// Each test starts a process, which takes as long as the machine lets it.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

const server = await useRedis();
const redis = await useRedisClient(server);
const keys = createKeys(1);
const FIXTURE = fileURLToPath(new URL('watched-process.ts', import.meta.url));

let child: ChildProcess;
let ended: Promise<[code: number | null, signal: NodeJS.Signals | null]>;

afterEach(async () => {
  child.kill('SIGKILL');
  await ended;
  await dropBlame(redis, keys, 'watched');
});

function start(action: 'exit' | 'block' | 'sleep'): void {
  child = spawn(process.execPath, [FIXTURE, server.url, action], { env: childEnvironment(), stdio: 'ignore' });
  ended = once(child, 'exit') as typeof ended;
}

describe('a process that is watched', () => {
  it('records the attempt that blocks its event loop, and is ended when that lasts', async () => {
    start('block');
    expect(await ended).toEqual([null, 'SIGKILL']);
    const blame = await readBlame(redis, keys, 'watched');
    expect(blame?.member).toBe('default/GUILTY/1');
    expect(blame?.message).toMatch(/^a task blocked its event loop for \d+ s$/);
  });

  it('records the attempt also when a call that cannot be interrupted hides it for seconds', async () => {
    start('sleep');
    const what = 'its culprit';
    const member = await waitFor(async () => (await readBlame(redis, keys, 'watched'))?.member, { deadlineMs: 60_000, what });
    expect(member).toBe('default/GUILTY/1');
  });

  it('records the attempt that ended it', async () => {
    start('exit');
    expect(await ended).toEqual([7, null]);
    expect(await readBlame(redis, keys, 'watched')).toEqual({
      member: 'default/GUILTY/1',
      message: 'a task ended its process with code 7',
    });
  });
});
