import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { waitFor } from '../../support/wait-for.ts';

const FILE = fileURLToPath(import.meta.resolve('../../support/fleet/runs/paid-agent.ts'));
const LATER_FILE = fileURLToPath(import.meta.resolve('../../support/fleet/runs/paid-agent-again.ts'));
const FIRST = { paid: { kind: 'function', file: FILE, version: '1' } } as const;
const SECOND = { paid: { kind: 'function', file: LATER_FILE, version: '2' } } as const;
const WORKER = { leaseMs: 1500, orphanCheckIntervalMs: 200, cancelGraceMs: 1000 };

let fleet: Fleet;
/** For a worker of the second release. */
let second: { MUSTER_CONFIG: string };
beforeEach(async () => {
  fleet = await openFleet({ settings: { agents: FIRST } });
  const MUSTER_CONFIG = join(fleet.directory, 'second.config.mjs');
  writeFileSync(MUSTER_CONFIG, `export default ${JSON.stringify({ agents: { echo: { kind: 'echo' }, ...SECOND }, worker: WORKER })};\n`);
  second = { MUSTER_CONFIG };
  await fleet.start('api');
});
afterEach(async () => {
  await fleet.stop();
});

const pay = async (): Promise<number> =>
  (await fleet.client.call('POST', '/v1/events', { body: { name: 'paid', data: { by: 'ann' } } })).body['resumed'] as number;

const reasonsOf = async (id: string): Promise<{ gate: string; detail: string; since: string | null }[]> =>
  (await fleet.client.call('GET', `/v1/tasks/${id}/why`)).body['reasons'] as never;

describe('a run that began with a version of its agent', () => {
  it('goes on with that one while a worker has it, and new ones begin with that of their worker', async () => {
    await fleet.start('worker');
    const ids: string[] = [];
    for (let count = 0; count < 5; count += 1) ids.push(await fleet.client.submit({ agent: 'paid' }));
    for (const id of ids) await fleet.client.reaches(id, ['suspended']);
    await fleet.start('worker', second);
    expect(await pay()).toBe(5);
    const ended = await fleet.client.ended(ids, 60_000);
    expect(new Set(ended.map(({ output }) => output))).toEqual(new Set(['a secret of the step, paid by ann']));
  });

  it('waits at the gate version for such a worker, and goes on with any other once none has it', async () => {
    const old = await fleet.start('worker');
    const id = await fleet.client.submit({ agent: 'paid' });
    await fleet.client.reaches(id, ['suspended']);
    await fleet.start('worker', second);
    await old.kill();
    expect(await pay()).toBe(1);
    const isHeld = async (): Promise<boolean> => (await reasonsOf(id)).some(({ gate }) => gate === 'version');
    await waitFor(isHeld, { deadlineMs: 10_000, everyMs: 50, what: 'the run to wait for its version' });
    expect(await reasonsOf(id)).toMatchObject([{ detail: expect.stringContaining('version 1 of "paid"'), since: expect.any(String) }]);
    await fleet.client.ended([id], 60_000);
    expect((await fleet.client.task(id)).output).toBe('a secret of the step, answered by the second version: ann');
  });
});
