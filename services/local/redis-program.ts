import { createHash } from 'node:crypto';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { LocalRedisAddress } from './local-redis-address.ts';

/** Also fetched by services/local/set-up/provide-redis.mjs. */
const IMAGE = 'redis:7-alpine';

export interface RedisProgram {
  readonly kind: 'server' | 'docker';
  /** The program itself. */
  readonly file: string;
}

export interface RedisCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** What it reads on its stdin: not on its command line, where every user of the machine could read the password. */
  readonly config: string;
}

/** What runs a Redis here: redis-server, else Docker; null when there is neither. `path` is a PATH. */
export function findRedisProgram(path: string): RedisProgram | null {
  const server = findOnPath('redis-server', path);
  if (server) return { kind: 'server', file: server };
  const docker = findOnPath('docker', path);
  return docker ? { kind: 'docker', file: docker } : null;
}

function findOnPath(name: string, path: string): string | null {
  for (const folder of path.split(delimiter)) {
    const file = join(folder, name);
    try {
      accessSync(file, constants.X_OK);
      // A folder may be entered, which is the same permission.
      if (statSync(file).isFile()) return file;
    } catch {
      continue;
    }
  }
  return null;
}

/** How to run a Redis that keeps its data in `directory` and listens at `address`. Docker takes a port only. */
export function redisCommand(program: RedisProgram, address: LocalRedisAddress, directory: string): RedisCommand {
  if (program.kind === 'server') return { file: program.file, args: ['-'], config: config(listenHere(address), directory) };
  if (address.kind !== 'port') throw new Error('A Redis in a container is reached by a port');
  return { file: program.file, args: dockerArgs(address.port, directory), config: config(listenInContainer(address.password), '/data') };
}

function dockerArgs(port: number, directory: string): string[] {
  const name = `muster-redis-${createHash('sha256').update(directory).digest('hex').slice(0, 12)}`;
  // As the user who started it, so that the data stays theirs. The client passes signals on to the server.
  const user = `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`;
  const run = ['run', '--rm', '--interactive', '--name', name, '--user', user, '--publish', `127.0.0.1:${port}:6379`];
  return [...run, '--volume', `${directory}:/data`, IMAGE, 'redis-server', '-'];
}

function listenHere(address: LocalRedisAddress): string[] {
  if (address.kind === 'socket') return ['port 0', `unixsocket ${quoted(address.path)}`, 'unixsocketperm 700'];
  return [`port ${address.port}`, 'bind 127.0.0.1', `requirepass ${address.password}`];
}

/** Inside the container it must listen on all addresses for the published port to reach it; that one is bound to loopback. */
function listenInContainer(password: string): string[] {
  return ['port 6379', 'bind *', `requirepass ${password}`];
}

/** All options are said here, so that no system's own redis.conf (Debian's keeps snapshots only) decides what survives. */
function config(listen: string[], directory: string): string {
  return [
    ...listen,
    'protected-mode yes',
    'daemonize no',
    'supervised no',
    `dir ${quoted(directory)}`,
    `pidfile ${quoted(join(directory, 'redis.pid'))}`,
    'appendonly yes',
    'appendfsync everysec',
    'save ""',
    'maxmemory-policy noeviction',
    'loglevel notice',
    '',
  ].join('\n');
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}
