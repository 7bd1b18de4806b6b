import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openRotatingFile } from '../../../services/local/log-destinations.ts';

let directory: string;
let file: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'muster-log-'));
  file = join(directory, 'muster.log');
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

test('a line is on disk when the call returns', () => {
  const log = openRotatingFile(file, { maxBytes: 1000, keep: 3 });
  log.write('one\n');
  expect(readFileSync(file, 'utf8')).toBe('one\n');
  log.close();
});

test('a file that is full is put aside, the newest under 1, and no more are kept than asked for', () => {
  const log = openRotatingFile(file, { maxBytes: 10, keep: 2 });
  for (const line of ['a', 'b', 'c', 'd']) log.write(`${line.repeat(10)}\n`);
  log.write('last\n');
  log.close();
  expect(readFileSync(file, 'utf8')).toBe('last\n');
  expect(readFileSync(`${file}.1`, 'utf8')).toBe('dddddddddd\n');
  expect(readFileSync(`${file}.2`, 'utf8')).toBe('cccccccccc\n');
  expect(existsSync(`${file}.3`)).toBe(false);
});

test('a file that an earlier run left full is put aside at the start, and a smaller one goes on', () => {
  writeFileSync(file, 'x'.repeat(50));
  openRotatingFile(file, { maxBytes: 50, keep: 3 }).close();
  expect(statSync(file).size).toBe(0);
  writeFileSync(file, 'kept\n');
  const log = openRotatingFile(file, { maxBytes: 50, keep: 3 });
  log.write('more\n');
  log.close();
  expect(readFileSync(file, 'utf8')).toBe('kept\nmore\n');
});
