import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { Config } from './load-config.ts';

/** The version of this installation, from `package.json`. */
export function installedVersion(): string {
  return manifest().version;
}

/** What starts a fleet where this is installed: a clone has a script of npm for it, a project the command of the package. */
export function startCommand(): string {
  if (isImage()) return 'muster start';
  return manifest().name === 'muster' ? 'npm start' : 'npx muster start';
}

/** Whether this is the fleet's image, which its Dockerfile names so. There `muster` is on the PATH, and a container has the environment set. */
export function isImage(): boolean {
  return manifest().name === 'muster-image';
}

/** Where the command is there to be run: in a clone, or where the package is. */
export function commandPlace(): string {
  return manifest().name === 'muster' ? 'in a clone of Muster' : 'where muster-fleet is installed';
}

function manifest(): { name: string; version: string } {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return z.object({ name: z.string(), version: z.string() }).parse(JSON.parse(text));
}

/** What is deployed here, for the records of attempts. */
export function releaseName({ MUSTER_RELEASE }: Pick<Config['env'], 'MUSTER_RELEASE'>): string {
  return MUSTER_RELEASE ?? installedVersion();
}

/** A configuration by its release and the digest of its file. The same file under another release is another one, so that it can come back. */
export function configurationOf({ env, digest }: Pick<Config, 'env' | 'digest'>): string {
  // While somebody edits, each start is a configuration of its own.
  const edit = env.MUSTER_DEV ? `.${process.pid}` : '';
  return `${releaseName(env)}#${digest}${edit}`;
}
