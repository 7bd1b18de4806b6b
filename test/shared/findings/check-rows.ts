import { checkInstallation } from '#shared/findings/checks.ts';
import type { InstallationPorts } from '#shared/findings/facts/installation-facts.ts';
import { systemClock } from '#shared/time/clock.ts';

/** The rows of `npx muster doctor` with these names, as `<state> <name>: <detail>`. */
export async function checkRows(ports: InstallationPorts, ...names: string[]): Promise<string[]> {
  const rows = await checkInstallation(ports, systemClock, { maxRead: 100 });
  return rows.filter(({ name }) => names.includes(name)).map(({ state, name, detail }) => `${state} ${name}: ${detail}`);
}
