import { type Task, type TaskOutcome, type TaskState, type TaskStatus, outcomeRecord, isTerminal } from '#shared/tasks/index.ts';
import { toIso } from '#shared/time/index.ts';
import { OutputReader } from '#shared/deliveries/index.ts';
import { type Ledger, readTasks } from '#shared/ledger/index.ts';

/** A message and its outcome so far, as a session's stream sends it. */
interface SessionTurn {
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
  return outcome ? outcomeRecord(outcome) : null;
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

/** Bound of the history that one reader gets, in characters of texts and answers. */
const MAX_CHARACTERS = 524_288;
/** Records read at once: each may hold as much as an output may be long. */
const BATCH = 10;

interface SessionHistory {
  /** Messages that have their outcome, oldest first; the oldest are left out when there is too much. */
  ended: SessionTurn[];
  /** Tasks that have not ended. */
  live: Task[];
}

/** Ended turns and live tasks of these ids; the newest turns are kept up to the bound of characters. */
export async function readHistory(ledger: Ledger, tenant: string, ids: readonly string[]): Promise<SessionHistory> {
  const ended: SessionTurn[] = [];
  const live: Task[] = [];
  let leftCharacters = MAX_CHARACTERS;
  const newestFirst = ids.toReversed();
  for (let from = 0; from < newestFirst.length; from += BATCH) {
    const tasks = (await readTasks(ledger, tenant, newestFirst.slice(from, from + BATCH))).filter((task) => task !== null);
    live.push(...tasks.filter(({ state }) => !isTerminal(state.status)));
    if (leftCharacters <= 0) continue;
    const turns = await Promise.all(tasks.filter(({ state }) => isTerminal(state.status)).map((task) => endedTurnOf(ledger, tenant, task)));
    for (const turn of turns) {
      if (leftCharacters > 0) ended.push(turn);
      leftCharacters -= turn.text.length + (turn.output?.length ?? 0);
    }
  }
  return { ended: ended.toReversed(), live: live.toReversed() };
}

/** A stopped task has no answer in its record. Its output so far is kept for a while. */
async function endedTurnOf(ledger: Ledger, tenant: string, task: Task): Promise<SessionTurn> {
  const turn = turnOf(task);
  if (turn.output !== null || task.state.attempt === 0) return turn;
  const written = await new OutputReader(ledger, tenant, turn.taskId).read();
  return { ...turn, output: written === '' ? null : written };
}
