import { spawnSync } from 'node:child_process';
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { childEnvironment } from '../../support/test-environment.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'my muster %20 é '));
  await cp('shared', join(folder, 'shared'), { recursive: true });
  await cp('package.json', join(folder, 'package.json'));
  await symlink(resolve('node_modules'), join(folder, 'node_modules'));
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

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
