import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { keepCheckpoint, readCheckpoint } from '#shared/ledger/journal/checkpoint.ts';
import { readJournal } from '#shared/ledger/journal/read-journal.ts';
import { Seal } from '#shared/tenants/sealing/seal.ts';
import { type Run, useRuns } from '../support/use-runs.ts';

const { test, folder, firstRun, nextRun } = await useRuns({ journal: { maxEntryBytes: 100 } });

const [ONE, OTHER] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const seal = new Seal({ key: ONE });
const rotated = new Seal({ key: OTHER, previous: ONE });
const never = (): never => expect.unreachable('the step is done already');

async function storedOf({ held }: Run): Promise<string> {
  const inRedis = JSON.stringify(await test.redis.hgetall(test.keys.tenant(held.tenant).journal(held.id)));
  const files = (await readdir(folder, { recursive: true })).filter((name) => /[0-9a-f]{32}$/.test(name));
  return inRedis + (await Promise.all(files.map(async (name) => await readFile(join(folder, name), 'utf8')))).join('\n');
}

const ref = ({ held: { tenant, id } }: Run): { tenant: string; id: string } => ({ tenant, id });

describe('with a key', () => {
  it('nothing that steps gave or runs wrote is stored in clear, and later attempts get it', async () => {
    const first = await firstRun(seal);
    const large = 'patience '.repeat(50);
    first.output.write('a patient answer');
    await first.journal.step('small', () => 'patience');
    await first.journal.step('large', () => large);
    const tool = { kind: 'tool', name: 'look', given: '{"for":"patience"}' } as const;
    await first.journal.keep(tool, () => 'found');
    const stored = await storedOf(first);
    expect(stored).not.toMatch(/patien/);
    expect(stored).toContain('"name\\":\\"small\\"');
    const next = await nextRun(first, rotated);
    expect(await next.journal.step('small', never)).toBe('patience');
    expect(await next.journal.step('large', never)).toBe(large);
    expect(await next.journal.keep(tool, never)).toBe('found');
    expect(next.output.text).toBe('a patient answer');
  });

  it('what was in clear before is read on', async () => {
    const first = await firstRun();
    await first.journal.step('one', () => 'clear');
    const next = await nextRun(first, seal);
    expect(await next.journal.step('one', never)).toBe('clear');
  });

  it('a run does not go on where the key is lost, and its journal still lists what it did', async () => {
    const first = await firstRun(seal);
    await first.journal.step('one', () => 'patience');
    const lost = { code: 'seal.key-lost', message: expect.stringContaining(seal.keyId ?? '') };
    await expect(nextRun(first)).rejects.toMatchObject(lost);
    const { entries } = await readJournal(test.ledger, ref(first));
    expect(entries.map(({ name, value, bytes }) => [name, value, bytes])).toEqual([
      ['echo', undefined, 12],
      ['one', undefined, 10],
    ]);
  });

  it('a checkpoint is sealed, for its task alone', async () => {
    const run = await firstRun(seal);
    const { tenant, id, token } = run.held;
    const sealing = { ...test.ledger, seal };
    await keepCheckpoint(sealing, { tenant, id, lease: `${tenant}/${id}/${token}` }, 'patience');
    expect(await storedOf(run)).not.toContain('patience');
    expect((await readCheckpoint({ ...test.ledger, seal: rotated }, ref(run)))?.text).toBe('patience');
    await expect(readCheckpoint(test.ledger, ref(run))).rejects.toMatchObject({ code: 'seal.key-lost' });
    const other = await firstRun(seal);
    const journals = test.keys.tenant(tenant);
    const stored = (await test.redis.hget(journals.journal(id), 'checkpoint')) ?? '';
    await test.redis.hset(journals.journal(other.held.id), 'checkpoint', stored);
    await expect(readCheckpoint(sealing, ref(other))).rejects.toMatchObject({ code: 'seal.key-lost' });
  });
});
