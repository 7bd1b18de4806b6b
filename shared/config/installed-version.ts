import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { Environment } from './environment.ts';

/** The version of this installation, from `package.json`. */
export function installedVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return z.object({ version: z.string() }).parse(JSON.parse(text)).version;
}

/** What is deployed here, for the records of attempts. */
export function releaseName({ MUSTER_RELEASE }: Pick<Environment, 'MUSTER_RELEASE'>): string {
  return MUSTER_RELEASE ?? installedVersion();
}
