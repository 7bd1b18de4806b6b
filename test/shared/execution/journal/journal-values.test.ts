import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { TaskFailure } from '#shared/errors/task-failure.ts';
import { readJournal } from '#shared/ledger/journal/read-journal.ts';
import { type Run, useRuns } from '../support/use-runs.ts';

const { test, files, folder, firstRun, nextRun } = await useRuns({ journal: { maxEntryBytes: 50, maxValueBytes: 1000 } });

const LATER_MS = 86_400_000;
const LARGE = 'x'.repeat(100);
const never = (): never => expect.unreachable('the step is done already');

const entriesOf = async ({ held }: Run): Promise<unknown[]> =>
  (await readJournal(test.ledger, held)).entries.map(({ name, value, large }) => [name, value ?? null, large?.bytes ?? null]);

const storedFiles = async (): Promise<string[]> =>
  (await readdir(folder, { recursive: true })).filter((name) => /[0-9a-f]{32}$/.test(name));

describe('what a step gives', () => {
  it('is in a file of the task where it is large, and later attempts get it from there', async () => {
    const first = await firstRun();
    expect(await first.journal.step('large', () => ({ text: LARGE }))).toEqual({ text: LARGE });
    await first.journal.step('small', () => 1);
    const next = await nextRun(first);
    expect(await next.journal.step('large', never)).toEqual({ text: LARGE });
    expect(await next.journal.step('small', never)).toBe(1);
    expect(await entriesOf(next)).toEqual([
      ['echo', expect.any(String), null],
      ['large', null, 111],
      ['small', '1', null],
    ]);
    expect(await storedFiles()).toHaveLength(1);
  });

  it('replaces what an attempt that was cut off had stored for the same step', async () => {
    const first = await firstRun();
    const { tenant, id, token } = first.held;
    const by = { tenant, task: id, attempt: 1, lease: `${tenant}/${id}/${token}` };
    const before = await files.add(
      by,
      'journal/2',
      { name: 'step-2.json', mediaType: 'application/json' },
      Readable.from([Buffer.from('"cut off"')]),
    );
    await (await nextRun(first)).journal.step('large', () => LARGE);
    await files.removeUnused(Date.now());
    expect(await files.find(tenant, before.file)).toBeNull();
  });

  it('goes with its task', async () => {
    const run = await firstRun();
    await run.journal.step('large', () => LARGE);
    await files.removeUnused(Date.now() + LATER_MS);
    const had = await storedFiles();
    await test.redis.hdel(test.keys.tenant(run.held.tenant).bodies, run.held.id);
    await files.removeUnused(Date.now() + 2 * LATER_MS);
    const left = await storedFiles();
    expect(had.filter((name) => !left.includes(name)).length).toBeGreaterThan(0);
    expect(await test.redis.exists(test.keys.tenant(run.held.tenant).taskFiles(run.held.id))).toBe(0);
  });

  it('fails the step beyond its bound, and is named where its file is gone', async () => {
    const first = await firstRun();
    const tooLarge = first.journal.step('too large', () => 'x'.repeat(1000));
    await expect(tooLarge).rejects.toMatchObject({
      code: 'STEP_TOO_LARGE',
      message: expect.stringContaining('1002 bytes of JSON, and the journal takes 1000'),
    });
    await first.journal.step('large', () => LARGE);
    await rm(join(folder, 'files', 'tenants'), { recursive: true });
    const next = await nextRun(first);
    await expect(next.journal.step('too large', never)).rejects.toMatchObject({ code: 'STEP_TOO_LARGE' });
    const gone: unknown = await next.journal.step('large', never).catch((error: unknown) => error);
    expect(gone as TaskFailure).toMatchObject({ code: 'RESOURCE_NOT_FOUND', message: expect.stringContaining('step 3 "large"') });
  });
});
