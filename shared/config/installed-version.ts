import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { Config } from './load-config.ts';

/** The version of this installation, from `package.json`. */
export function installedVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return z.object({ version: z.string() }).parse(JSON.parse(text)).version;
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
