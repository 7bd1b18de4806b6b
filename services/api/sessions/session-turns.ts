import { type Task, type TaskOutcome, type TaskState, type TaskStatus, outcomeRecord, isTerminal } from '#shared/tasks/index.ts';
import type { FileStore } from '#shared/files/index.ts';
import { toIso } from '#shared/time/index.ts';
import { OutputReader } from '#shared/deliveries/index.ts';
import { type Ledger, readTasks } from '#shared/ledger/index.ts';

/** A file of a message, which `GET /v1/tasks/:id/attachments/:name`, or `artifacts`, has. */
interface TurnFile {
  name: string;
  mediaType: string;
  /** Null for one that is fetched from an address. */
  bytes: number | null;
}

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
  /** What its task was given. */
  attachments: TurnFile[];
}

/** With the files that its task made. */
interface EndedTurn extends SessionTurn {
  artifacts: TurnFile[];
}

export interface TurnPorts {
  readonly ledger: Ledger;
  readonly files: Pick<FileStore, 'list'>;
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
    attachments: (body.attachments ?? []).map(({ name, mediaType, bytes }) => ({ name, mediaType, bytes })),
  };
}

/** The files that a task made; a task that never ran made none. */
export async function artifactsOf({ files }: Pick<TurnPorts, 'files'>, tenant: string, { body, state }: Task): Promise<TurnFile[]> {
  if (state.attempt === 0) return [];
  const made = await files.list(tenant, body.id, 'out');
  return [...made].map(([name, { mediaType, bytes }]) => ({ name, mediaType, bytes }));
}

/** Bound of the history that one reader gets, in characters of texts and answers. */
const MAX_CHARACTERS = 524_288;
/** Records read at once: each may hold as much as an output may be long. */
const BATCH = 10;

interface SessionHistory {
  /** Messages that have their outcome, oldest first; the oldest are left out when there is too much. */
  ended: EndedTurn[];
  /** Tasks that have not ended. */
  live: Task[];
}

/** Ended turns and live tasks of these ids; the newest turns are kept up to the bound of characters. */
export async function readHistory(ports: TurnPorts, tenant: string, ids: readonly string[]): Promise<SessionHistory> {
  const ended: EndedTurn[] = [];
  const live: Task[] = [];
  let leftCharacters = MAX_CHARACTERS;
  const newestFirst = ids.toReversed();
  for (let from = 0; from < newestFirst.length; from += BATCH) {
    const tasks = (await readTasks(ports.ledger, tenant, newestFirst.slice(from, from + BATCH))).filter((task) => task !== null);
    live.push(...tasks.filter(({ state }) => !isTerminal(state.status)));
    if (leftCharacters <= 0) continue;
    const turns = await Promise.all(tasks.filter(({ state }) => isTerminal(state.status)).map((task) => endedTurnOf(ports, tenant, task)));
    for (const turn of turns) {
      if (leftCharacters > 0) ended.push(turn);
      leftCharacters -= turn.text.length + (turn.output?.length ?? 0);
    }
  }
  return { ended: ended.toReversed(), live: live.toReversed() };
}

/** A stopped task has no answer in its record. Its output so far is kept for a while. */
async function endedTurnOf(ports: TurnPorts, tenant: string, task: Task): Promise<EndedTurn> {
  const turn = { ...turnOf(task), artifacts: await artifactsOf(ports, tenant, task) };
  if (turn.output !== null || task.state.attempt === 0) return turn;
  const written = await new OutputReader(ports.ledger, tenant, turn.taskId).read();
  return { ...turn, output: written === '' ? null : written };
}
