import type { AppliedCommand } from './run-schedule-command.ts';

/** What a command changed, or was refused to change, for the audit log. */
export interface ScheduleChange {
  /** Behind the name of who did it, as in `agentSchedulePause`. */
  action: string;
  object: string;
  outcome: 'done' | 'refused';
  code: string | null;
}

const ACTIONS: Readonly<Record<string, string>> = {
  create: 'Schedule',
  cancel: 'ScheduleCancel',
  pause: 'SchedulePause',
  resume: 'ScheduleResume',
};

/** Null for a command that only reads, or cannot be read: it asks for no change. */
export function changeOf({ directive: { command }, result, code }: AppliedCommand): ScheduleChange | null {
  const action = ACTIONS[command.kind];
  if (action === undefined) return null;
  return { action, object: objectOf(command, result), outcome: result.kind === 'refused' ? 'refused' : 'done', code };
}

function objectOf(command: AppliedCommand['directive']['command'], result: AppliedCommand['result']): string {
  if (result.kind === 'created') return `schedules/${result.schedule.number}`;
  return 'number' in command ? `schedules/${command.number}` : 'schedules';
}
