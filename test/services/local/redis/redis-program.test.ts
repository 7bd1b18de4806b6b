import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findRedisProgram, redisCommand } from '../../../../services/local/redis/redis-program.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'muster-path-'));
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

function folderWith(name: string, program: string): string {
  const folder = join(directory, name);
  mkdirSync(folder);
  writeFileSync(join(folder, program), '#!/bin/sh\n');
  chmodSync(join(folder, program), 0o755);
  return folder;
}

test('redis-server is preferred to Docker wherever it stands on the PATH, and nothing is null', () => {
  const docker = folderWith('a', 'docker');
  const server = folderWith('b', 'redis-server');
  expect(findRedisProgram([docker, server].join(delimiter))).toEqual({ kind: 'server', file: join(server, 'redis-server') });
  expect(findRedisProgram(docker)).toEqual({ kind: 'docker', file: join(docker, 'docker') });
  expect(findRedisProgram(directory)).toBeNull();
});

test('a folder of that name is no program', () => {
  mkdirSync(join(directory, 'redis-server'));
  expect(findRedisProgram(directory)).toBeNull();
});

test('in Docker it is published on loopback only, keeps its data here, and its password is not on the command line', () => {
  const address = { kind: 'port', port: 4567, password: 'secret' } as const;
  const { args, config } = redisCommand({ kind: 'docker', file: 'docker' }, address, '/data dir');
  expect(args).toEqual(expect.arrayContaining(['--rm', '127.0.0.1:4567:6379', '/data dir:/data']));
  expect(args.join(' ')).not.toContain('secret');
  expect(config).toContain('requirepass secret');
  expect(config).toContain('dir "/data"');
  expect(config).toContain('appendonly yes');
});
