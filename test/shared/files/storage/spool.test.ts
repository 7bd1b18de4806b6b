import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, describe, expect, it } from 'vitest';
import { Spool } from '#shared/files/storage/spool.ts';

const root = await mkdtemp(join(tmpdir(), 'muster-spool-'));
afterAll(() => rm(root, { recursive: true, force: true }));

const bytesIn = async (spool: Spool, source: AsyncIterable<Uint8Array> = Readable.from([Buffer.from('abc')])): Promise<number> =>
  await spool.with(source, 100, ({ bytes }) => Promise.resolve(bytes));

describe('a spool', () => {
  it('whose folder cannot be used is unavailable, and works once it can', async () => {
    const folder = join(root, 'file', 'spool');
    await writeFile(join(root, 'file'), '');
    const spool = new Spool(folder);
    await expect(bytesIn(spool)).rejects.toMatchObject({ code: 'unavailable.files', retryAfterMs: 5000 });
    await rm(join(root, 'file'));
    expect(await bytesIn(spool)).toBe(3);
  });

  it('whose folder was removed is unavailable once', async () => {
    const folder = join(root, 'removed');
    const spool = new Spool(folder);
    await bytesIn(spool);
    await rm(folder, { recursive: true });
    await expect(bytesIn(spool)).rejects.toMatchObject({ code: 'unavailable.files' });
    expect(await bytesIn(spool)).toBe(3);
  });
});
