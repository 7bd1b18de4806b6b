import { spawnSync } from 'node:child_process';
import { chmod, link, mkdir, readFile, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type AttemptFolder, openAttemptFolder, removeAttemptFolders } from '#shared/agents/command/folder/attempt-folder.ts';
import { OutputFiles } from '#shared/agents/command/folder/output-files.ts';
import { textOf } from '../../../../support/agents/output-text.ts';
import { useFolder } from '../../../../support/use-folder.ts';

const parent = await useFolder('muster-folders-');
// For others to pass through.
await chmod(parent, 0o711);
const isRoot = process.getuid?.() === 0;
const OTHER = { uid: 60_999, gid: 60_999 };
/** Looked into by this process, and by one with the rights of the program's user. */
const USERS = [null, ...(isRoot ? [OTHER] : [])];

async function useAttemptFolder(user: typeof OTHER | null, use: (folder: AttemptFolder) => Promise<void>): Promise<void> {
  const folder = await openAttemptFolder('mark', user, parent);
  try {
    await folder.handOver();
    await use(folder);
  } finally {
    await folder.remove();
  }
  expect(await readdir(parent)).not.toContain(folder.path.slice(parent.length + 1));
}

/** As a program would, with the rights of its user. */
function shell(user: typeof OTHER | null, program: string, cwd: string): void {
  const { status, stderr } = spawnSync('sh', ['-ec', program], { ...user, cwd, encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
}

for (const user of USERS) {
  const whose = user === null ? 'of this user' : 'of another user';

  it(`lists the files that were left in out ${whose}, with their paths and sizes`, async () => {
    await useAttemptFolder(user, async (folder) => {
      const odd = String.raw`printf x > "$(printf 'not\377text')"; printf y > "$(printf 'two\nlines')"`;
      shell(user, `mkdir charts; printf done > report.md; : > 'charts/a b.svg'; ${odd}; truncate -s 1T sparse`, folder.out);
      const { files, leftOut } = await folder.listOutput();
      expect(files.map(({ name, bytes }) => [name, bytes])).toEqual([
        ['not\uFFFDtext', 1],
        ['report.md', 4],
        ['sparse', 2 ** 40],
        ['two\nlines', 1],
        ['charts/a b.svg', 0],
      ]);
      expect(leftOut).toEqual([]);
      const texts = [0, 1, 3, 4].map((at) => textOf(files[at]));
      expect(await Promise.all(texts)).toEqual(['x', 'done', 'y', '']);
    });
  });

  it(`lists nothing that is no file ${whose}, and says what it left out`, async () => {
    await useAttemptFolder(user, async (folder) => {
      const secret = join(parent, 'secret');
      await writeFile(secret, 'hidden');
      shell(user, `ln -s ${secret} by-name; ln -s ${parent} folder; mkfifo pipe; : > one; ln one two`, folder.out);
      if (user === null) await link(secret, join(folder.out, 'same-file'));
      const { files, leftOut } = await folder.listOutput();
      expect(files).toEqual([]);
      expect(leftOut).toEqual([
        { name: 'by-name', reason: 'it is a link' },
        { name: 'folder', reason: 'it is a link' },
        { name: 'one', reason: 'the file has other names' },
        { name: 'pipe', reason: 'it is no file' },
        ...(user === null ? [{ name: 'same-file', reason: 'the file has other names' }] : []),
        { name: 'two', reason: 'the file has other names' },
      ]);
      await rm(secret);
    });
  });

  it(`lists nothing when a link or nothing has taken the place of out ${whose}`, async () => {
    await useAttemptFolder(user, async (folder) => {
      shell(user, 'rmdir out', folder.work);
      expect(await folder.listOutput()).toEqual({ files: [], leftOut: [] });
      shell(user, `ln -s ${parent} out`, folder.work);
      expect(await folder.listOutput()).toEqual({ files: [], leftOut: [] });
    });
  });

  it.skipIf(user === null && isRoot)(`leaves out what ${whose} may not be read, and lists the others`, async () => {
    await useAttemptFolder(user, async (folder) => {
      const hidden = 'mkdir closed unlisted; : > closed/file; : > unlisted/file; : > secret; chmod 0 closed secret; chmod 600 unlisted';
      shell(user, `printf done > report; ${hidden}`, folder.out);
      const { files, leftOut } = await folder.listOutput();
      expect(files.map(({ name }) => name)).toEqual(['report']);
      expect(leftOut).toEqual(['secret', 'closed', 'unlisted'].map((name) => ({ name, reason: 'it may not be read' })));
      shell(user, 'chmod 0 .', folder.out);
      expect(await folder.listOutput()).toEqual({ files: [], leftOut: [{ name: '.', reason: 'it may not be read' }] });
    });
  });

  it(`does not read a file ${whose} that became a link or a pipe after it was listed`, async () => {
    await useAttemptFolder(user, async (folder) => {
      shell(user, ': > file; : > other', folder.out);
      const { files } = await folder.listOutput();
      shell(user, 'ln -sf /etc/passwd file; rm other; mkfifo other', folder.out);
      await expect(textOf(files[0])).rejects.toThrow('ELOOP');
      await expect(textOf(files[1])).rejects.toThrow('it is no file');
    });
  });

  it(`bounds how deep it lists ${whose}`, async () => {
    await useAttemptFolder(user, async (folder) => {
      shell(user, 'n=0; while [ $n -lt 40 ]; do mkdir d; cd d; n=$((n + 1)); done; : > file', folder.out);
      const { files, leftOut } = await folder.listOutput();
      expect(files).toEqual([]);
      expect(leftOut).toMatchObject([{ reason: 'it is more than 32 folders deep' }]);
    });
  });

  it(`is removed ${whose}, though its paths are longer than the system takes and its folders unwritable, and what links lead to stays`, async () => {
    const kept = join(parent, 'kept');
    await mkdir(kept);
    await writeFile(join(kept, 'file'), 'mine');
    await chmod(kept, 0o777);
    await useAttemptFolder(user, async (folder) => {
      const long = 'x'.repeat(200);
      const deep = `n=0; while [ $n -lt 40 ]; do mkdir ${long}; : > ${long}/file; cd -P ${long} 2> /dev/null; n=$((n + 1)); done`;
      shell(
        user,
        `ln -s ${kept} link; mkdir cache; ln -s ${kept} cache/link; : > "$(printf 'cache/not\\377text')"; chmod 500 cache; ${deep}`,
        folder.work,
      );
    });
    expect(await readFile(join(kept, 'file'), 'utf8')).toBe('mine');
    await rm(kept, { recursive: true });
  });
}

it.runIf(isRoot)('folders that a killed worker left are removed, and what others named like them is not in the way', async () => {
  const shared = join(parent, 'shared');
  await mkdir(shared);
  await chmod(shared, 0o1777);
  const left = await openAttemptFolder('left', OTHER, shared);
  await left.handOver();
  shell(OTHER, 'mkdir muster-attempt-left-mine; ln -s / muster-attempt-left-link', shared);
  expect(await removeAttemptFolders((mark) => mark === 'left', shared)).toBe(true);
  expect((await readdir(shared)).toSorted()).toEqual(['muster-attempt-left-link', 'muster-attempt-left-mine']);
  await rm(shared, { recursive: true });
});

it('lists no more files than it may', async () => {
  await useAttemptFolder(null, async (folder) => {
    shell(null, 'touch a b c d; mkdir e; touch e/f', folder.out);
    const names = async (max: number): Promise<string[]> => {
      const { files, leftOut } = await new OutputFiles(folder.out, max).list();
      return [...files, ...leftOut].map(({ name }) => name);
    };
    expect(await names(3)).toEqual(['a', 'b', 'c', 'further files']);
    expect(await names(6)).toEqual(['a', 'b', 'c', 'd', 'e/f']);
  });
});

it.runIf(isRoot)('can be entered by its user only once it was handed over, and its parts cannot be replaced', async () => {
  const folder = await openAttemptFolder('mark', OTHER, parent);
  const can = (program: string): boolean => spawnSync('sh', ['-c', program], { ...OTHER, cwd: folder.path }).status === 0;
  expect(can('cd work')).toBe(false);
  expect(await readFile(await folder.writeBeside('prompt.txt', 'do it'), 'utf8')).toBe('do it');
  await folder.handOver();
  expect(can('cd work && cat ../prompt.txt && touch here')).toBe(true);
  expect(['mv work other', 'rmdir home', 'touch beside', 'ls'].filter(can)).toEqual([]);
  await folder.remove();
  expect(await readdir(parent)).toEqual([]);
});

it.runIf(isRoot)('is refused where another user could put a link in its place', async () => {
  const place = join(parent, 'open');
  await mkdir(join(place, 'below'), { recursive: true });
  await chmod(place, 0o777);
  const problem = 'commands.folder has to lie where only root can replace it';
  await expect(openAttemptFolder('mark', OTHER, join(place, 'below'))).rejects.toThrow(`${problem}, and others may write to ${place}`);
  await chmod(place, 0o1777);
  const folder = await openAttemptFolder('mark', OTHER, join(place, 'below'));
  await folder.remove();
  await rename(join(place, 'below'), join(place, 'moved'));
  await symlink('/', join(place, 'link'));
  await expect(openAttemptFolder('mark', OTHER, join(place, 'below'))).rejects.toThrow('ENOENT');
  await rm(place, { recursive: true });
});
