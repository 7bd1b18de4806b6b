import { describeStorages, readStorages } from '../files/index.ts';
import type { RegistryPorts } from '../queue/index.ts';
import type { CheckResult } from './check.ts';

/** Whether all processes store files in one place. */
export async function checkFiles(fleet: RegistryPorts): Promise<CheckResult> {
  const name = 'Files';
  const storages = await readStorages(fleet);
  if (storages.length > 1) return { name, state: 'warn', detail: describeStorages(storages) };
  return { name, state: 'ok', detail: storages.length === 0 ? 'no process that stores files is running' : 'stored in one place' };
}
