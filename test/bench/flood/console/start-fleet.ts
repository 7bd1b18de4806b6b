import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { SettingsInput } from '#shared/config/settings/settings.ts';
import { builtConsole } from '../../../services/dashboard/built-console.ts';
import { freePort } from '../../../support/free-port.ts';
import { childEnvironment } from '../../../support/test-environment.ts';
import { waitFor } from '../../../support/wait-for.ts';

const MAIN = resolve(import.meta.dirname, '../../../../services/local/main.ts');
export const ADMIN_KEY = 'the-admin-key-of-the-bench';
const START_MS = 120_000;
const DAY_MS = 86_400_000;
/** Redis answers too late on a machine with much else to do. */
const UNAVAILABLE = 503;
const MAX_TRIES = 20;

const SETTINGS = {
  agents: { echo: { kind: 'echo' }, coder: { kind: 'daemon' } },
  limits: { httpPerMinute: 10_000_000 },
  // The chores keep all tasks of the bench.
  tasks: { maxEnded: 10_000_000, retentionMs: 30 * DAY_MS },
  worker: { slots: 200 },
} satisfies SettingsInput;

export interface BenchFleet {
  readonly url: string;
  readonly pid: number;
  /** Calls the API, and resolves to the answer's text. Throws for a refusal. */
  call(method: string, path: string, body?: unknown): Promise<string>;
  stop(): Promise<void>;
}

/** Starts every service in one process, as `npm start` does, on a Redis that runs. */
export async function startFleet(redisUrl: string): Promise<BenchFleet> {
  await builtConsole();
  const directory = await mkdtemp(join(tmpdir(), 'muster-bench-'));
  const config = join(directory, 'muster.config.mjs');
  await writeFile(config, `export default ${JSON.stringify(SETTINGS)};\n`);
  const port = await freePort();
  const env = { REDIS_URL: redisUrl, PORT: `${port}`, MUSTER_ADMIN_KEY: ADMIN_KEY, MUSTER_CONFIG: config, MUSTER_DATA_DIR: directory };
  const child = spawn(process.execPath, [MAIN], { cwd: directory, env: childEnvironment(env), stdio: ['ignore', 'ignore', 'inherit'] });
  const endWithThis = (): void => void child.kill('SIGKILL');
  process.once('exit', endWithThis);
  const url = `http://127.0.0.1:${port}`;
  const isReady = async (): Promise<boolean> => (await fetch(`${url}/readyz`).catch(() => null))?.ok === true || child.exitCode !== null;
  await waitFor(isReady, { deadlineMs: START_MS, what: 'the fleet to be ready' });
  return {
    url,
    pid: child.pid ?? 0,
    call: async (method, path, body) => {
      const headers = { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' };
      for (let tries = 1; ; tries += 1) {
        const answer = await fetch(`${url}${path}`, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
        const text = await answer.text();
        if (answer.ok) return text;
        if (answer.status !== UNAVAILABLE || tries === MAX_TRIES) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`);
      }
    },
    stop: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
      await rm(directory, { recursive: true, force: true });
    },
  };
}
