import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkNode } from '../../../services/local/doctor/run-doctor.ts';
import { ROOT } from '../../docs/markdown.ts';
import { childEnvironment } from '../../support/test-environment.ts';

const folder = new URL('../../../services/local/set-up/', import.meta.url);
const setUp = fileURLToPath(new URL('../set-up.mjs', folder));

interface Modules {
  modulesMatchLock: (root: string) => boolean;
}
interface Node {
  isAtLeastNeeded: (version: string) => boolean;
}
interface Machine {
  checkMachine: (node: string, platform: string) => void;
}

/** The set-up is plain JavaScript without declarations: what is used of it is declared above. */
async function load<T>(name: string): Promise<T> {
  return (await import(new URL(name, folder).href)) as T;
}

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'muster-set-up-'));
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

function lock(file: string, packages: Record<string, object>): void {
  writeFileSync(join(root, file), JSON.stringify({ packages }));
}

test('running it where all is there takes one quiet line and well under a second', () => {
  const env = childEnvironment();
  // Pages that were changed since the last set-up are built by the first run.
  spawnSync(process.execPath, [setUp], { env, timeout: 110_000 });
  const { status, stdout, stderr } = spawnSync(process.execPath, [setUp], { encoding: 'utf8', env, timeout: 10_000 });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toMatch(/^Set-up: all there \(0\.\d s\)\.\n$/);
}, 120_000);

test('without a redis-server and a way to get one it ends with 1 and names the ways', () => {
  const bin = join(root, 'bin');
  mkdirSync(bin);
  const env = { ...childEnvironment(), PATH: bin };
  const { status, stderr } = spawnSync(process.execPath, [setUp], { encoding: 'utf8', env, timeout: 10_000 });
  expect(status).toBe(1);
  for (const option of ['apt-get install', 'brew install', 'Docker', 'REDIS_URL']) expect(stderr).toContain(option);
  expect(stderr).not.toContain('    at ');
});

test('a Redis of the user is enough to start, and not for the tests, which kill theirs', () => {
  const bin = join(root, 'bin');
  mkdirSync(bin);
  const env = { ...childEnvironment({ REDIS_URL: 'redis://127.0.0.1:1' }), PATH: bin };
  const run = (...args: string[]): number | null => spawnSync(process.execPath, [setUp, ...args], { env, timeout: 10_000 }).status;
  expect(run()).toBe(0);
  expect(run('--for-tests')).toBe(1);
});

test('a redis-server that is too old is refused with both versions', () => {
  const bin = join(root, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'redis-server'), '#!/bin/sh\necho "Redis server v=5.0.14 sha=0"\n');
  chmodSync(join(bin, 'redis-server'), 0o755);
  const { status, stderr } = spawnSync(process.execPath, [setUp], {
    encoding: 'utf8',
    env: { ...childEnvironment(), PATH: bin },
    timeout: 10_000,
  });
  expect(status).toBe(1);
  expect(stderr).toMatch(/6\.2.*5\.0/);
});

test('node modules are up to date when npm says that it installed what the lock names', async () => {
  const { modulesMatchLock } = await load<Modules>('install-modules.mjs');
  const wanted = {
    '': { version: '1.0.0' },
    'node_modules/a': { version: '1.0.0' },
    'node_modules/mac': { version: '2.0.0', optional: true },
  };
  lock('package-lock.json', wanted);
  expect(modulesMatchLock(root)).toBe(false);
  mkdirSync(join(root, 'node_modules'));
  lock('node_modules/.package-lock.json', { 'node_modules/a': { version: '1.0.0' } });
  expect(modulesMatchLock(root)).toBe(true);
  lock('package-lock.json', { ...wanted, 'node_modules/a': { version: '1.0.1' } });
  expect(modulesMatchLock(root)).toBe(false);
  lock('package-lock.json', { ...wanted, 'node_modules/b': { version: '1.0.0' } });
  expect(modulesMatchLock(root)).toBe(false);
});

test('Node is new enough from 24.20 on', async () => {
  const { isAtLeastNeeded } = await load<Node>('provide-node.mjs');
  expect(['20.20.2', '22.21.0', '24.19.9'].filter(isAtLeastNeeded)).toEqual([]);
  expect(['24.20.0', '24.21.0', '25.0.0'].filter((version) => !isAtLeastNeeded(version))).toEqual([]);
});

const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

test('the least Node is the same wherever it is written, and the one that is used has it', async () => {
  const { isAtLeastNeeded } = await load<Node>('provide-node.mjs');
  const documented = [...`${read('docs/deploy.md')} ${read('README.md')} ${read('docs/schedules.md')}`.matchAll(/Node (24\.\d+)/g)].map(
    ([, version]) => version,
  );
  expect(new Set(documented)).toEqual(new Set(['24.20']));
  expect(['24.20.0', '24.19.0'].map((version) => checkNode(version).state)).toEqual(['ok', 'fail']);
  const { devDependencies } = JSON.parse(read('package.json')) as { devDependencies: { node: string } };
  const images = ['services/Dockerfile', 'docker-compose.yml'].map((file) => /node:([\d.]+)-slim/.exec(read(file))?.[1] ?? 'none');
  const used = [devDependencies.node, ...images.map((version) => `${version}.0`)];
  expect(used.filter((version) => !isAtLeastNeeded(version))).toEqual([]);
});

test('a Node that is too old, and Windows itself, are refused with what to do', async () => {
  const { checkMachine } = await load<Machine>('provide-node.mjs');
  expect(() => checkMachine('18.20.0', 'linux')).toThrow(/Node 20.*18\.20\.0/);
  expect(() => checkMachine('24.1.0', 'win32')).toThrow(/WSL/);
  expect(() => checkMachine('20.0.0', 'darwin')).not.toThrow();
});

/** The name of the image that a file of the sources holds. */
function imageIn(file: string): string | undefined {
  return /const IMAGE = '(.+)'/.exec(readFileSync(new URL(file, folder), 'utf8'))?.[1];
}

test('the image that is fetched is the image that is run', () => {
  expect(imageIn('provide-redis.mjs')).toBeDefined();
  expect(imageIn('provide-redis.mjs')).toBe(imageIn('../redis/redis-program.ts'));
});
