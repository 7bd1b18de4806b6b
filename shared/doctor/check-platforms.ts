import { readRefusals } from '../deliveries/index.ts';
import type { RegistryPorts } from '../queue/index.ts';
import type { CheckResult } from './check.ts';

/** The chat platforms that refuse the bot; none where all of them know it. */
export async function checkPlatforms(fleet: RegistryPorts): Promise<CheckResult[]> {
  return (await readRefusals(fleet)).map(({ platform, reason }) => ({ name: `Chat on ${platform}`, state: 'fail', detail: reason }));
}
