import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../support/free-port.ts';
import { waitFor } from '../../support/wait-for.ts';

/** A PostgreSQL server of its own on the loopback address. */
export interface Postgres {
  readonly url: string;
  stop(): Promise<void>;
}

const DEBIAN_VERSIONS = '/usr/lib/postgresql';
const START_MS = 20_000;

/** Starts Debian's PostgreSQL on an empty directory; null where it is not installed. */
export async function startPostgres(): Promise<Postgres | null> {
  const programs = findPrograms();
  if (programs === null) return null;
  const directory = mkdtempSync(join(tmpdir(), 'muster-postgres-'));
  // It refuses to run as root.
  const user = userInfo().uid === 0 ? { uid: idOf('u'), gid: idOf('g') } : {};
  if (user.uid !== undefined) chownSync(directory, user.uid, user.gid);
  const data = join(directory, 'data');
  execFileSync(join(programs, 'initdb'), ['-D', data, '-A', 'trust', '-U', 'bench'], { ...user, stdio: 'ignore' });
  const port = await freePort();
  const server = spawn(join(programs, 'postgres'), ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', directory], {
    ...user,
    stdio: 'ignore',
  });
  const isReady = (): boolean => {
    try {
      execFileSync(join(programs, 'pg_isready'), ['-h', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  };
  await waitFor(isReady, { deadlineMs: START_MS, everyMs: 100, what: 'PostgreSQL to start' });
  return {
    url: `postgres://bench@127.0.0.1:${port}/postgres`,
    stop: async () => {
      const ended = once(server, 'exit');
      server.kill('SIGINT');
      await ended;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function findPrograms(): string | null {
  const versions = existsSync(DEBIAN_VERSIONS) ? readdirSync(DEBIAN_VERSIONS).toSorted() : [];
  const newest = versions.at(-1);
  return newest === undefined ? null : join(DEBIAN_VERSIONS, newest, 'bin');
}

function idOf(which: 'u' | 'g'): number {
  return Number(execFileSync('id', [`-${which}`, 'postgres'], { encoding: 'utf8' }));
}
