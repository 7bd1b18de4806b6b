import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { dropBlame, readBlame } from '#shared/ledger/claim/blame.ts';
import { createKeys } from '#shared/redis/keys.ts';
import { childEnvironment } from '../../../support/test-environment.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { useRedis, useRedisClient } from '../../../support/redis/use-redis.ts';

const server = await useRedis();
const redis = await useRedisClient(server);
const keys = createKeys(1);
const FIXTURE = fileURLToPath(new URL('watched-process.ts', import.meta.url));

afterEach(() => dropBlame(redis, keys, 'watched'));

function start(action: 'exit' | 'block' | 'sleep'): ChildProcess {
  return spawn(process.execPath, [FIXTURE, server.url, action], { env: childEnvironment(), stdio: 'ignore' });
}

/** Runs the process to its end and returns its exit. */
async function run(action: 'exit' | 'block'): Promise<[code: number | null, signal: NodeJS.Signals | null]> {
  const [code, signal] = await once(start(action), 'exit');
  return [code, signal];
}

describe('a process that is watched', () => {
  it('records the attempt that blocks its event loop, and is ended when that lasts', async () => {
    expect(await run('block')).toEqual([null, 'SIGKILL']);
    const blame = await readBlame(redis, keys, 'watched');
    expect(blame?.member).toBe('default/GUILTY/1');
    expect(blame?.message).toMatch(/^a task blocked its event loop for \d+ s$/);
  });

  it('records the attempt also when a call that cannot be interrupted hides it for seconds', async () => {
    const child = start('sleep');
    const what = 'its culprit';
    const member = await waitFor(async () => (await readBlame(redis, keys, 'watched'))?.member, { deadlineMs: 30_000, what });
    expect(member).toBe('default/GUILTY/1');
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }, 40_000);

  it('records the attempt that ended it', async () => {
    expect(await run('exit')).toEqual([7, null]);
    expect(await readBlame(redis, keys, 'watched')).toEqual({
      member: 'default/GUILTY/1',
      message: 'a task ended its process with code 7',
    });
  });
});
