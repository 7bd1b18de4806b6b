import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { endOnSignals } from '#shared/lifecycle/end-process.ts';
import { createLog } from '#shared/log/create-log.ts';
import { isProcessGone } from '../../support/agents/agent-process.ts';
import { childEnvironment } from '../../support/test-environment.ts';
import { useFolder } from '../../support/use-folder.ts';
import { waitFor } from '../../support/wait-for.ts';

// Each test starts a process, which takes as long as the machine lets it.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

/** The program of Linux that opens a terminal for a command. */
const SCRIPT = '/usr/bin/script';
const folder = await useFolder();
const script = fileURLToPath(new URL('fixtures/draining-process.ts', import.meta.url));
const started: Running[] = [];

interface Running {
  out: () => string;
  send: (signal: NodeJS.Signals) => void;
  /** Nobody reads what it writes any more. */
  closeOutput: () => void;
  code: Promise<number | null>;
}

afterEach(async () => {
  for (const { send, code } of started.splice(0)) {
    send('SIGKILL');
    await code;
  }
});

async function run(how: string): Promise<Running> {
  const child = spawn(process.execPath, [script, how], { stdio: ['ignore', 'pipe', 'inherit'], env: childEnvironment() });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => (text += part));
  const code = once(child, 'close').then(([value]) => value as number | null);
  const running: Running = { out: () => text, send: (signal) => child.kill(signal), closeOutput: () => void child.stdout.destroy(), code };
  started.push(running);
  await waitFor(() => text.includes('ready'), { deadlineMs: 60_000, what: 'the process to be ready' });
  return running;
}

test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('%s drains and ends with 0', async (signal) => {
  const { send, code, out } = await run('drains');
  send(signal);
  expect(await code).toBe(0);
  expect(out()).toMatch(/drained[^]*process\.stopped/);
});

describe('a process whose output nobody reads any more', () => {
  test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('drains and ends with 0 at %s', async (signal) => {
    const { send, code, closeOutput } = await run('drains');
    closeOutput();
    send(signal);
    expect(await code).toBe(0);
  });

  test('goes on with its stop when it prints in the middle of it', async () => {
    const { send, code, closeOutput } = await run('prints-and-drains');
    closeOutput();
    send('SIGINT');
    expect(await code).toBe(0);
  });

  // A write to a terminal that is closed fails otherwise than one to a pipe.
  test.runIf(existsSync(SCRIPT))('drains and ends with 0 when its terminal is closed', async () => {
    const endFile = join(folder, 'end');
    const command = `'${process.execPath}' '${script}' prints-and-drains '${endFile}'`;
    const terminal = spawn(SCRIPT, ['-qfec', command, '/dev/null'], { stdio: ['ignore', 'pipe', 'inherit'], env: childEnvironment() });
    let text = '';
    terminal.stdout.setEncoding('utf8').on('data', (part: string) => (text += part));
    await waitFor(() => text.includes('ready'), { deadlineMs: 60_000, what: 'the process to be ready' });
    terminal.kill('SIGKILL');
    const end = await waitFor(() => (existsSync(endFile) ? readFileSync(endFile, 'utf8') : null), { deadlineMs: 20_000, what: 'its end' });
    const { code, pid } = JSON.parse(end) as { code: number; pid: number };
    try {
      expect(code).toBe(0);
      await waitFor(() => isProcessGone(pid), { deadlineMs: 5000, what: 'the process to be gone' });
    } finally {
      if (!isProcessGone(pid)) process.kill(pid, 'SIGKILL');
    }
  });

  test('ends with 1 when its stop fails', async () => {
    const { send, code, closeOutput } = await run('fails');
    closeOutput();
    send('SIGTERM');
    expect(await code).toBe(1);
  });
});

test('Ctrl-C that arrives twice at once, from the terminal and from npm, is one press', async () => {
  const { send, code, out } = await run('drains-slowly');
  send('SIGINT');
  await waitFor(() => out().includes('process.stopping'), { deadlineMs: 20_000, what: 'the drain to begin' });
  send('SIGINT');
  expect(await code).toBe(0);
  expect(out()).toContain('drained');
});

test('a second press ends at once with 130, and what can be abandoned is', async () => {
  const { send, code, out } = await run('hangs');
  send('SIGINT');
  await waitFor(() => out().includes('process.stopping'), { deadlineMs: 20_000, what: 'the drain to begin' });
  // Signals right after the first one count as the same press, so it is pressed until it counts.
  const press = (): boolean => {
    send('SIGINT');
    return out().includes('abandoned');
  };
  await waitFor(press, { deadlineMs: 20_000, everyMs: 50, what: 'a later press to end it' });
  expect(await code).toBe(130);
});

test('a terminal that closes while it drains, once and again, changes nothing', async () => {
  const { send, code, out } = await run('hangs-for-a-while');
  send('SIGINT');
  await waitFor(() => out().includes('process.stopping'), { deadlineMs: 20_000, what: 'the drain to begin' });
  const close = (): boolean => {
    send('SIGHUP');
    return out().includes('drained');
  };
  await waitFor(close, { deadlineMs: 20_000, everyMs: 50, what: 'the drain to end' });
  expect(await code).toBe(0);
  expect(out()).not.toContain('abandoned');
});

test('a failure that its parts report drains, is said in one line and ends with 1', async () => {
  const { code, out } = await run('cannot-go-on');
  expect(await code).toBe(1);
  expect(out()).toContain('drained');
  expect(out().match(/process\.failed.*the queue is gone/g)).toHaveLength(1);
});

test('work that is done drains and ends with 0', async () => {
  const { code, out } = await run('completes');
  expect(await code).toBe(0);
  expect(out()).toContain('drained');
});

test('a stop that takes longer than its deadline is given up with 1', async () => {
  const host = hostOfSignals();
  const log = createLog({ level: 'silent', service: 'test' });
  let abandoned = 0;
  endOnSignals({ log, stop: () => new Promise(() => undefined), abandon: () => (abandoned += 1), deadlineMs: 10, process: host });
  host.emit('SIGTERM');
  await waitFor(() => host.codes.length > 0, { deadlineMs: 2000, what: 'the deadline' });
  expect({ codes: host.codes, abandoned }).toEqual({ codes: [1], abandoned: 1 });
});

test('a stop that fails ends with 1', async () => {
  const { send, code, out } = await run('fails');
  send('SIGTERM');
  expect(await code).toBe(1);
  expect(out()).toContain('cannot stop');
});

test('a rejection that nobody caught is logged as fatal and ends with 1', async () => {
  const { code, out } = await run('rejects');
  expect(await code).toBe(1);
  expect(out()).toMatch(/"level":"fatal".*nobody caught this/);
});

test('what an agent let go unheard is the agent’s, and the process goes on', async () => {
  const { send, code, out } = await run('strays');
  await waitFor(() => out().includes('heard a rejection') && out().includes('heard a throw'), { deadlineMs: 20_000, what: 'both errors' });
  send('SIGTERM');
  expect(await code).toBe(0);
});

function hostOfSignals(): EventEmitter & { exit(code: number): void; codes: number[] } {
  const codes: number[] = [];
  return Object.assign(new EventEmitter(), { codes, exit: (code: number) => void codes.push(code) });
}
