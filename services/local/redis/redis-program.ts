import { createHash } from 'node:crypto';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { LocalRedisAddress } from './redis-record.ts';

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
  /** Sent to its stdin, because each user of the machine could read a password on the command line. */
  readonly config: string;
}

/** Finds redis-server, else Docker, on the PATH `path`; null when there is neither. */
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
      // A folder has the same permission.
      if (statSync(file).isFile()) return file;
    } catch {
      continue;
    }
  }
  return null;
}

/** The command for a Redis with its data in `directory` that listens at `address`. Docker supports only a port. */
export function redisCommand(program: RedisProgram, address: LocalRedisAddress, directory: string): RedisCommand {
  if (program.kind === 'server') return { file: program.file, args: ['-'], config: redisConfig(listenHere(address), directory) };
  if (address.kind !== 'port') throw new Error('A Redis in a container is reached by a port');
  return {
    file: program.file,
    args: dockerArgs(address.port, directory),
    config: redisConfig(listenInContainer(address.password), '/data'),
  };
}

function dockerArgs(port: number, directory: string): string[] {
  const name = `muster-redis-${createHash('sha256').update(directory).digest('hex').slice(0, 12)}`;
  // It runs as the current user, who then owns the data. The client forwards signals to the server.
  const user = `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`;
  const run = ['run', '--rm', '--interactive', '--name', name, '--user', user, '--publish', `127.0.0.1:${port}:6379`];
  return [...run, '--volume', `${directory}:/data`, IMAGE, 'redis-server', '-'];
}

function listenHere(address: LocalRedisAddress): string[] {
  if (address.kind === 'socket') return ['port 0', `unixsocket ${quoted(address.path)}`, 'unixsocketperm 700'];
  return [`port ${address.port}`, 'bind 127.0.0.1', `requirepass ${address.password}`];
}

/** The published port reaches only a server that listens on all addresses of the container; that port itself is bound to loopback. */
function listenInContainer(password: string): string[] {
  return ['port 6379', 'bind *', `requirepass ${password}`];
}

/** All options are set here, because a redis.conf of the system would decide what survives a restart (Debian's keeps only snapshots). */
function redisConfig(listen: string[], directory: string): string {
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
