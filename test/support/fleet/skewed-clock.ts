import { pathToFileURL } from 'node:url';

/** The environment of a process whose wall clock is wrong by so many ms: ahead when positive. */
export function skewedClockEnvironment(ms: number): Record<string, string> {
  const preload = pathToFileURL(`${import.meta.dirname}/fixtures/shift-clock.ts`);
  preload.searchParams.set('ms', String(ms));
  return { NODE_OPTIONS: `--import=${preload.href}` };
}
