import { publishFindingEvent, publishFleetEvent } from '../../events/index.ts';
import type { RegistryPorts } from '../../queue/index.ts';
import { toIso } from '../../time/index.ts';
import type { Finding } from '../finding.ts';
import type { ListOwner } from './finding-store.ts';

/** Publishes to those whose list it is in that a finding is new, or resolved. Best effort. */
export async function publishFinding(
  ports: RegistryPorts,
  owner: ListOwner,
  finding: Finding,
  became: 'opened' | 'resolved',
): Promise<void> {
  const { id, code, severity, text, helps, count, since, link, subject, gate } = finding;
  const about = { finding: { id, code, level: severity, text, helps, count, since: toIso(since), link, subject, gate } };
  await publishFindingEvent(ports, owner, { event: `finding.${became}`, about });
  if (code !== 'queue.unserved' || subject === null) return;
  // The names that operators know it by.
  if (became === 'opened') await publishFleetEvent(ports, { event: 'needs_attention', queue: subject, reason: text });
  else {
    const reason = `no task waits in the queue "${subject}" without a worker any more`;
    await publishFleetEvent(ports, { event: 'recovered', queue: subject, reason });
  }
}
