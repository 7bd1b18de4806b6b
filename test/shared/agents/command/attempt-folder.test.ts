import { link, mkdir, readFile, symlink, writeFile, chmod, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type AttemptFolder, openAttemptFolder } from '#shared/agents/command/attempt-folder.ts';
import { useFolder } from '../../../support/use-folder.ts';

const parent = await useFolder('muster-folders-');

async function useAttemptFolder(use: (folder: AttemptFolder) => Promise<void>): Promise<void> {
  const folder = await openAttemptFolder('mark', null, parent);
  try {
    await use(folder);
  } finally {
    await folder.remove();
  }
  expect(await readdir(parent)).not.toContain(folder.path.slice(parent.length + 1));
}

it('lists the files that were left in out, with their paths and sizes', async () => {
  await useAttemptFolder(async (folder) => {
    await mkdir(join(folder.out, 'charts'));
    await writeFile(join(folder.out, 'report.md'), 'done');
    await writeFile(join(folder.out, 'charts', 'a b.svg'), '');
    const files = await folder.listOutput();
    expect(files.map(({ name, bytes }) => [name, bytes])).toEqual([
      ['report.md', 4],
      ['charts/a b.svg', 0],
    ]);
    const file = await files[0]?.open();
    expect(await file?.readFile('utf8')).toBe('done');
    await file?.close();
  });
});

it('lists no link, which could lead to a file that only the fleet may read', async () => {
  await useAttemptFolder(async (folder) => {
    const secret = join(parent, 'secret');
    await writeFile(secret, 'hidden');
    await symlink(secret, join(folder.out, 'by-name'));
    await symlink(parent, join(folder.out, 'folder'));
    await link(secret, join(folder.out, 'same-file'));
    expect(await folder.listOutput()).toEqual([]);
    expect(await readFile(secret, 'utf8')).toBe('hidden');
    await rm(secret);
  });
});

it('lists nothing when a link or nothing has taken the place of out', async () => {
  await useAttemptFolder(async (folder) => {
    await rm(folder.out, { recursive: true });
    expect(await folder.listOutput()).toEqual([]);
    await symlink(parent, folder.out);
    expect(await folder.listOutput()).toEqual([]);
  });
});

it('does not open a file that became a link after it was listed', async () => {
  await useAttemptFolder(async (folder) => {
    const path = join(folder.out, 'file');
    await writeFile(path, 'mine');
    const [file] = await folder.listOutput();
    await rm(path);
    await symlink('/etc/passwd', path);
    await expect(file?.open()).rejects.toMatchObject({ code: 'ELOOP' });
  });
});

it.skipIf(process.getuid?.() === 0)('is removed although its program made a folder unwritable', async () => {
  await useAttemptFolder(async (folder) => {
    await mkdir(join(folder.work, 'cache'));
    await writeFile(join(folder.work, 'cache', 'file'), '');
    await chmod(join(folder.work, 'cache'), 0o500);
  });
  expect(await readdir(parent)).toEqual([]);
});
