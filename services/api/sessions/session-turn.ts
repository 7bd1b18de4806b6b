import { type Task, type TaskOutcome, type TaskState, type TaskStatus, wholeOutcome } from '#shared/tasks/index.ts';
import { toIso } from '#shared/time/index.ts';

/** A message and what became of it so far, as the readers of a session's stream are told. */
export interface SessionTurn {
  taskId: string;
  text: string;
  user: string | null;
  agent: string;
  status: TaskStatus;
  outcome: TaskOutcome | null;
  output: string | null;
  error: { code: string; message: string } | null;
  createdAt: string | null;
  completedAt: string | null;
}

export function outcomeOf({ outcome }: TaskState): TaskOutcome | null {
  return outcome ? wholeOutcome(outcome) : null;
}

export function turnOf({ body, state, output }: Task): SessionTurn {
  const { error } = state;
  return {
    taskId: body.id,
    text: body.input,
    user: body.user,
    agent: body.agent,
    status: state.status,
    outcome: outcomeOf(state),
    output,
    error: error ? { code: error.code, message: error.message } : null,
    createdAt: toIso(state.createdAt),
    completedAt: toIso(state.completedAt),
  };
}
