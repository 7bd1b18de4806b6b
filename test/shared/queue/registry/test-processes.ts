import { beatProcess, type ProcessIdentity, removeProcess } from '#shared/queue/index.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import { ZONE_DATA } from '#shared/time/index.ts';

/** The beat of a scheduler that is not there. */
export async function beatAs(
  parts: Pick<Parts, 'redis' | 'keys'>,
  fields: Partial<ProcessIdentity>,
): Promise<{ record: ProcessIdentity; end: () => Promise<void> }> {
  const configuration = `v1#${fields.configuration ?? 'file'}`;
  const record = { id: 'other', services: ['scheduler'], startedAt: 0, release: 'v1', zoneData: ZONE_DATA, ...fields, configuration };
  await beatProcess(parts, record);
  return { record, end: () => removeProcess(parts, record) };
}
