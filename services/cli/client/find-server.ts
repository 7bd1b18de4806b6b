import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { type CliEnvironment, startCommand } from '#shared/config/index.ts';
import { CliProblem, EXIT } from '../cli-problem.ts';

export interface ServerAddress {
  /** Without a slash at the end. */
  url: string;
  key: string;
}

export interface ServerOptions {
  url?: string | undefined;
  key?: string | undefined;
}

const localSchema = z.object({ url: z.string(), key: z.string().nullable() });
type Local = z.infer<typeof localSchema>;

/** The fleet of a clone runs in its folder; a command runs in any folder. */
const REPOSITORY = fileURLToPath(new URL('../../..', import.meta.url));

const FIXES = [
  `  - start a fleet on this machine: ${startCommand()}`,
  '  - give --url and --key with the command',
  '  - set MUSTER_URL and MUSTER_API_KEY',
].join('\n');

/**
 * Finds the address and key: in the command's options, else in the environment, else in the record of this machine's fleet.
 * The key of that record is sent only to the address in it.
 */
export function findServer(options: ServerOptions, env: CliEnvironment, cwd: string): ServerAddress {
  const local = readLocal(env, cwd);
  const given = options.url ?? env.MUSTER_URL;
  const url = asOrigin(given ?? local?.url ?? missing('address'));
  const isLocal = local !== null && asOrigin(local.url) === url;
  const key = options.key ?? env.MUSTER_API_KEY ?? (isLocal ? local.key : null) ?? missing(`key for ${url}`);
  return { url, key };
}

/** Whether the address that was given is not that of this machine's fleet. */
export function isElsewhere(options: ServerOptions, env: CliEnvironment, cwd: string): boolean {
  const given = options.url ?? env.MUSTER_URL;
  const local = readLocal(env, cwd);
  return given !== undefined && (local === null || asOrigin(local.url) !== asOrigin(given));
}

function missing(what: string): never {
  throw new CliProblem(`There is no ${what}.\nDo one of these:\n${FIXES}`, { exitCode: EXIT.usage });
}

function asOrigin(url: string): string {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new CliProblem(`"${url}" is not an address like http://localhost:3000`, { exitCode: EXIT.usage });
  }
  return url.replace(/\/+$/, '');
}

function readLocal({ MUSTER_DATA_DIR: named }: CliEnvironment, cwd: string): Local | null {
  const directories = named === undefined ? [join(cwd, '.muster'), join(REPOSITORY, '.muster')] : [resolve(cwd, named)];
  for (const directory of directories) {
    const local = readRecord(join(directory, 'local.json'));
    if (local) return local;
  }
  return null;
}

function readRecord(file: string): Local | null {
  try {
    return localSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return null;
  }
}
