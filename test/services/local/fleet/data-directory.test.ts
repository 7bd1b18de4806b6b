import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openDataDirectory } from '../../../../services/local/fleet/data-directory.ts';
import { processStart } from '../../../../services/local/fleet/process-start.ts';
import { startFixture } from '../fixtures/start-fixture.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'muster-data-'));
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

test('a directory that is not there is made, for its owner only', () => {
  const opened = openDataDirectory(join(directory, 'new'));
  expect(statSync(opened.path).mode & 0o777).toBe(0o700);
  expect(existsSync(opened.redis)).toBe(true);
  expect(existsSync(opened.logs)).toBe(true);
});

test('a directory that others may read is closed to them', () => {
  mkdirSync(join(directory, 'open', 'logs'), { recursive: true, mode: 0o755 });
  const opened = openDataDirectory(join(directory, 'open'));
  for (const folder of [opened.path, opened.logs, opened.redis]) expect(statSync(folder).mode & 0o777).toBe(0o700);
});

test('a directory that cannot be made is refused with its path and the variable to set', () => {
  writeFileSync(join(directory, 'file'), '');
  const wanted = join(directory, 'file', 'data');
  expect(() => openDataDirectory(wanted)).toThrow(expect.objectContaining({ code: 'config.invalid' }));
  expect(() => openDataDirectory(wanted)).toThrow(new RegExp(`${wanted}.*MUSTER_DATA_DIR`));
});

test('a place where no directory can be made is refused too, not tried again and again', () => {
  expect(() => openDataDirectory('/proc/muster/data')).toThrow(/MUSTER_DATA_DIR/);
});

test('a directory that a living fleet has is refused with the pid of that fleet, and stays its own', async () => {
  const holder = await startFixture('lock-holder.ts', [directory]);
  try {
    expect(() => openDataDirectory(directory)).toThrow(new RegExp(`process ${holder.child.pid}`));
    expect(() => openDataDirectory(directory)).toThrow(new RegExp(`process ${holder.child.pid}`));
  } finally {
    await holder.kill();
  }
});

test('a directory whose fleet was killed is taken over', async () => {
  const holder = await startFixture('lock-holder.ts', [directory]);
  await holder.kill();
  openDataDirectory(directory);
  expect(JSON.parse(readFileSync(join(directory, 'fleet.lock'), 'utf8'))).toEqual({
    pid: process.pid,
    startedAt: processStart(process.pid),
  });
  expect(readdirSync(directory).filter((name) => name.startsWith('fleet.lock'))).toEqual(['fleet.lock']);
});

test('a lock under a pid that another program has by now is a dead one', () => {
  writeFileSync(join(directory, 'fleet.lock'), JSON.stringify({ pid: process.pid, startedAt: 'long ago' }));
  expect(() => openDataDirectory(directory)).not.toThrow();
});

test('a lock that was half written when its process died is a dead one', () => {
  writeFileSync(join(directory, 'fleet.lock'), '{"pid":');
  expect(() => openDataDirectory(directory)).not.toThrow();
});

test('of many that find a dead lock at once, one gets the directory', async () => {
  writeFileSync(join(directory, 'fleet.lock'), JSON.stringify({ pid: process.pid, startedAt: 'long ago' }));
  const starts = await Promise.allSettled(Array.from({ length: 6 }, () => startFixture('lock-holder.ts', [directory])));
  const held = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
  for (const holder of held) await holder.kill();
  expect(held).toHaveLength(1);
});

test('a directory that was released can be opened again', () => {
  openDataDirectory(directory).release();
  expect(existsSync(join(directory, 'fleet.lock'))).toBe(false);
  expect(() => openDataDirectory(directory)).not.toThrow();
});
