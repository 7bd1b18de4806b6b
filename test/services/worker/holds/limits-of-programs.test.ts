import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import type { AgentDefinition } from '#shared/config/agent-definitions.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { explainWait } from '#shared/queue/why/explain-wait.ts';
import { awaitEnd } from '../../../support/agents/await-task.ts';
import { RawDaemon } from '../../../support/daemons/raw-daemon.ts';
import { registerDaemon, startHub } from '../../../support/daemons/start-hub.ts';
import { useFolder } from '../../../support/use-folder.ts';
import { useParts } from '../../../support/use-parts.ts';
import { useWorker } from '../../../support/use-worker.ts';
import { waitFor } from '../../../support/wait-for.ts';

const folder = await useFolder();
await chmod(folder, 0o777);
const state = join(folder, 'state');
const starts = join(folder, 'starts');
await writeFile(starts, '');
await chmod(starts, 0o666);

/** Programs and their limits take seconds, and more on a machine that is busy. */
vi.setConfig({ testTimeout: 60_000 });

/** Notes that it was started, and answers once the file says that its account may. */
const SCRIPT = `read -r prompt; echo "$prompt" >> "${starts}"
. "${state}"
echo '{"type":"result","subtype":"success","is_error":'$refused',"result":"'"$words"'","total_cost_usd":0.001,"usage":{"output_tokens":1}}'`;
const coderWith = (key: string): AgentDefinition => ({
  kind: 'command',
  preset: 'claude-code',
  command: ['/bin/sh', '-c', SCRIPT],
  env: { ANTHROPIC_API_KEY: key },
});

const parts = await useParts({
  agents: {
    coder: coderWith('one'),
    reviewer: coderWith('one'),
    other: coderWith('two'),
  },
  throttle: { maxInSlotWaitMs: 10, pumpMs: 50, horizonMs: 200, probeMs: 300 },
  hub: { resendMs: 100, sweepMs: 200 },
  queues: { tasks: { slots: 4 } },
});
await useWorker(parts);
const hub = await startHub(parts);
afterAll(() => hub.stop());

async function answers(refused: boolean, words: string): Promise<void> {
  await writeFile(state, `refused=${refused}\nwords='${words}'\n`);
}

const startsOf = async (): Promise<string[]> => (await readFile(starts, 'utf8')).split('\n').filter((line) => line !== '');
const submit = async (agent: string, input: string, tenant = 'acme'): Promise<string> =>
  (await acceptTask(parts, { tenant, agent, input })).id;

async function waitsFor(id: string, tenant = 'acme'): Promise<{ detail: string; until: number }> {
  const explained = async (): Promise<{ detail: string; until: number } | undefined> => {
    const task = await readTask(parts.ledger, tenant, id);
    const reasons = task === null ? [] : (await explainWait(parts, task)).reasons;
    const reason = reasons.find(({ gate }) => gate === 'provider');
    return reason && { detail: reason.detail, until: Number(reason.until) };
  };
  return await waitFor(explained, { deadlineMs: 30_000, what: `${id} to wait for its provider` });
}

describe('a program that finds the limit of its account', () => {
  it('says so for all agents with its key: they wait without a start until one has tried, and spend no attempt', async () => {
    const until = Math.ceil(Date.now() / 1000) + 6;
    await answers(true, `Claude AI usage limit reached|${until}`);
    const first = await submit('coder', 'first');
    expect((await waitsFor(first)).detail).toContain('usage limit reached');
    const others = await Promise.all(Array.from({ length: 6 }, (_, at) => submit(at % 2 === 0 ? 'coder' : 'reviewer', `task-${at}`)));
    const elsewhere = await submit('other', 'other-key');
    for (const id of others) expect(Math.abs((await waitsFor(id)).until - until * 1000)).toBeLessThan(5000);
    // Another key is another account, which finds its own limit.
    await waitsFor(elsewhere);
    expect(await startsOf()).toEqual(['first', 'other-key']);
    await answers(false, 'done');
    const ended = await Promise.all([first, ...others].map((id) => awaitEnd(parts, id, 'acme')));
    expect(ended.map(({ state: { status, spent } }) => [status, spent])).toEqual(ended.map(() => ['completed', 1]));
    expect((await startsOf()).filter((line) => line !== 'other-key')).toHaveLength(1 + 7);
  });

  it('has one of them try again and again where it names no time', async () => {
    await answers(true, 'rate_limit_error');
    const before = (await startsOf()).length;
    const ids = await Promise.all(Array.from({ length: 5 }, (_, at) => submit('coder', `more-${at}`, 'globex')));
    for (const id of ids) await waitsFor(id, 'globex');
    const begun = (await startsOf()).length - before;
    await waitFor(async () => (await startsOf()).length > before + begun, { deadlineMs: 20_000, what: 'a task to try' });
    await answers(false, 'done');
    for (const id of ids) expect((await awaitEnd(parts, id, 'globex')).state).toMatchObject({ status: 'completed', spent: 1 });
  });
});

describe('a daemon that finds the limit of an account', () => {
  it.each([
    ['until', { error: { code: 'COMMAND_FAILED', message: 'no more today', until: new Date(Date.now() + 3_600_000).toISOString() } }],
    ['retryAfterMs', { error: { code: 'PROVIDER_QUOTA', message: 'no more today', retryAfterMs: 3_600_000 } }],
    ['until beside the error', { error: { code: 'USAGE_LIMIT', message: 'no more today' }, until: Math.floor(Date.now() / 1000) + 3600 }],
  ])('says so for all tasks of the agent, also on other daemons: %s', async (how, end) => {
    const tenant = `daemon-${how.replaceAll(' ', '-')}`;
    await parts.catalog.put(tenant, 'bench', { kind: 'daemon' });
    const [one, two] = [await registerDaemon(parts, { tenant }), await registerDaemon(parts, { tenant, name: 'two' })];
    const daemon = await RawDaemon.welcomed(hub.url, one.token);
    const first = await submit('bench', 'first', tenant);
    const { token } = await daemon.accept();
    daemon.send({ type: 'task.failed', taskId: first, token, ...end } as never);
    const { detail, until } = await waitsFor(first, tenant);
    expect(detail).toContain('no more today');
    expect(Math.abs(until - Date.now() - 3_600_000)).toBeLessThan(60_000);
    const idle = await RawDaemon.welcomed(hub.url, two.token);
    await waitsFor(await submit('bench', 'second', tenant), tenant);
    for (const each of [daemon, idle]) each.vanish();
  });
});
