import { spawnSync } from 'node:child_process';
import { cp, symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { childEnvironment } from '../../support/test-environment.ts';
import { useFolder } from '../../support/use-folder.ts';

const folder = await useFolder('my muster %20 é ');
await cp('shared', join(folder, 'shared'), { recursive: true });
await cp('package.json', join(folder, 'package.json'));
await symlink(resolve('node_modules'), join(folder, 'node_modules'));

describe('a ledger', () => {
  it('finds its scripts wherever the repository is', () => {
    const program = `
      import { createLedger } from '#shared/ledger/ledger.ts';
      createLedger({});
      console.log('loaded');
    `;
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      cwd: folder,
      env: childEnvironment(),
      encoding: 'utf8',
    });
    expect([stdout.trim(), stderr]).toEqual(['loaded', '']);
  });
});
