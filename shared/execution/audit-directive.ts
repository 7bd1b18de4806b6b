import { recordAudit } from '../audit/index.ts';
import { type AppliedCommand, changeOf, type ScheduleParts } from '../schedules/index.ts';
import type { TaskBody } from '../tasks/index.ts';

/** Records what the `/schedule` line of an agent changed, or was refused, with the task that wrote it. Never rejects. */
export async function auditDirective(parts: ScheduleParts, { id, tenant, agent }: TaskBody, applied: AppliedCommand): Promise<void> {
  const change = changeOf(applied);
  if (change === null) return;
  const actor = { kind: 'agent', id, name: agent } as const;
  await recordAudit(parts, tenant, { ...change, actor, via: 'agent', from: `tasks/${id}`, action: `agent${change.action}`, fields: [] });
}
