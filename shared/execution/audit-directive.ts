import { type AuditEntry, recordAudit } from '../audit/index.ts';
import type { applyScheduleCommand, CommandResult, ScheduleParts } from '../schedules/index.ts';
import type { TaskBody } from '../tasks/index.ts';

type Applied = Awaited<ReturnType<typeof applyScheduleCommand>>;

/** What a command asks for, by its kind. What only reads, or cannot be read, is no change. */
const ACTIONS: Readonly<Record<string, string>> = {
  create: 'agentSchedule',
  cancel: 'agentScheduleCancel',
  pause: 'agentSchedulePause',
  resume: 'agentScheduleResume',
};

/** Records what the `/schedule` line of an agent changed, or was refused, with the task that wrote it. Never rejects. */
export async function auditDirective(parts: ScheduleParts, { id, tenant, agent }: TaskBody, applied: Applied): Promise<void> {
  const { directive, result, code } = applied;
  const action = ACTIONS[directive.command.kind];
  if (action === undefined) return;
  const entry: AuditEntry = {
    actor: { kind: 'agent', id, name: agent },
    via: 'agent',
    from: `tasks/${id}`,
    action,
    object: objectOf(directive.command, result),
    fields: [],
    outcome: result.kind === 'refused' ? 'refused' : 'done',
    code,
  };
  await recordAudit(parts, tenant, entry);
}

function objectOf(command: Applied['directive']['command'], result: CommandResult): string {
  if (result.kind === 'created') return `schedules/${result.schedule.number}`;
  return 'number' in command ? `schedules/${command.number}` : 'schedules';
}
