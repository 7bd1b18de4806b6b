import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLog } from '#shared/log/index.ts';
import { connectRedis, pairs } from '#shared/redis/index.ts';
import { addPiece, NO_TEXT } from '#shared/tasks/written-text.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import type { ServiceProcess } from '../../support/fleet/service-process.ts';
import { type Effect, EFFECTS } from '../../support/fleet/runs/stepping-agent.ts';
import { testEnvironment } from '../../support/test-environment.ts';
import { waitFor } from '../../support/wait-for.ts';

const STEPS = testEnvironment.isChaos ? 40 : 8;
const KILLS = testEnvironment.isChaos ? 12 : 2;
const FILE = fileURLToPath(import.meta.resolve('../../support/fleet/runs/stepping-agent.ts'));

let fleet: Fleet;
beforeEach(async () => {
  fleet = await openFleet({ settings: { agents: { stepping: { kind: 'function', file: FILE } }, limits: { maxWorkerLosses: 2 } } });
  await fleet.start('api');
});
afterEach(async () => {
  await fleet.stop();
});

interface Entry {
  seq: number;
  kind: string;
  name: string;
  status: string;
  attempt: number;
  replays: number;
}

const journalOf = async (id: string): Promise<Entry[]> =>
  (await fleet.client.call('GET', `/v1/tasks/${id}/journal`)).body['items'] as Entry[];

function effects(): Effect[] {
  const file = `${fleet.directory}/${EFFECTS}`;
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  return lines.map((line) => JSON.parse(line) as Effect);
}

/** What a reader of the task's stream has at the end. */
async function readStream(id: string): Promise<string> {
  const redis = connectRedis({ url: fleet.redis.url, name: 'test', log: createLog({ level: 'silent', service: 'test' }) });
  const entries = await redis.xrange(`muster:{s0}:t:default:output:${id}`, '-', '+');
  redis.disconnect();
  const pieces = entries.map(([, fields]) => new Map(pairs(fields)));
  return pieces.reduce((written, piece) => addPiece(written, { seq: Number(piece.get('seq')), text: piece.get('text') ?? '' }), NO_TEXT)
    .text;
}

describe('a run with steps', () => {
  it('goes on where it was when its worker is killed again and again: no step that ended is taken twice', async () => {
    const workers: ServiceProcess[] = [await fleet.start('worker'), await fleet.start('worker')];
    const id = await fleet.client.submit({ agent: 'stepping', context: { steps: STEPS, stepMs: 150 } });
    const killed: (number | undefined)[] = [];
    const starting: Promise<unknown>[] = [];
    for (let kill = 1; kill <= KILLS; kill += 1) {
      const ended = Math.floor((kill * STEPS) / (KILLS + 1));
      // On a slow machine the steps may have ended before the kill before: then another process has to go on first.
      const isThere = async (): Promise<boolean> =>
        !killed.includes(effects().at(-1)?.pid) && (await journalOf(id)).filter(({ status }) => status === 'completed').length > ended;
      await waitFor(isThere, { deadlineMs: 60_000, everyMs: 50, what: `${ended} steps` });
      const running = workers.find(({ pid }) => pid === effects().at(-1)?.pid);
      killed.push(running?.pid);
      await running?.kill();
      // The other one goes on meanwhile, and would have taken the last step before a start on a busy machine has ended.
      starting.push(fleet.start('worker').then((worker) => workers.push(worker)));
    }
    await Promise.all(starting);
    const [task] = await fleet.client.ended([id], 60_000);
    expect(task).toMatchObject({ status: 'completed', attempt: 1, result: { seen: Array.from({ length: STEPS }, (_, at) => at + 1) } });
    expect(task?.output).toBe(Array.from({ length: STEPS }, (_, at) => `before ${at + 1}, in ${at + 1}. `).join(''));
    expect(await readStream(id)).toBe(task?.output);

    // A worker that stood still for longer than its lease has lost its attempt as one that was killed has.
    const lost = (await fleet.client.attempts(id)).filter(({ status }) => status === 'interrupted').length;
    expect(lost).toBeGreaterThan(0);
    const all = effects();
    expect(new Set(all.map(({ key }) => key)).size).toBe(STEPS);
    expect(all.length).toBeLessThanOrEqual(STEPS + lost);
    const entries = await journalOf(id);
    expect(entries.map(({ seq, kind, name, status }) => [seq, kind, name, status])).toEqual([
      [1, 'definition', 'stepping', 'completed'],
      ...Array.from({ length: STEPS }, (_, at) => [at + 2, 'step', `step ${at + 1}`, 'completed']),
    ]);
    expect(entries[1]?.replays).toBe(lost);
  });

  it('ends with the step that ends its processes named', async () => {
    await Promise.all(Array.from({ length: 3 }, () => fleet.start('worker')));
    const id = await fleet.client.submit({ agent: 'stepping', context: { steps: 4, stepMs: 1, endsIn: 3 } });
    await fleet.client.ended([id], 60_000);
    const { error } = await fleet.client.task(id);
    expect(error).toMatchObject({ code: 'WORKER_LOST', message: expect.stringContaining('"step 3"') });
    expect(effects().filter(({ step }) => step < 3)).toHaveLength(2);
  });
});
