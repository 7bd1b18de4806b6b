import type { Check } from './check.ts';

/** A table for a terminal, one check per line. */
export function renderChecks(checks: readonly Check[]): string {
  const width = Math.max(...checks.map(({ name }) => name.length));
  return checks.map(({ name, state, detail }) => `  ${state.padEnd(4)}  ${name.padEnd(width)}  ${detail}\n`).join('');
}
