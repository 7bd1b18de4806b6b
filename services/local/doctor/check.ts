/** The result of one check. */
export interface Check {
  name: string;
  /** `warn`: it works with a weaker promise; `fail`: the fleet does not start or may lose work; `skip`: it could not be checked. */
  state: 'ok' | 'warn' | 'fail' | 'skip';
  /** The finding and, unless it is fine, its remedy, on one line. */
  detail: string;
}

/** A table for a terminal, one check per line. */
export function renderChecks(checks: readonly Check[]): string {
  const width = Math.max(...checks.map(({ name }) => name.length));
  return checks.map(({ name, state, detail }) => `  ${state.padEnd(4)}  ${name.padEnd(width)}  ${detail}\n`).join('');
}
