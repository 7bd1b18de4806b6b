import pMap from 'p-map';
import type { AuditEntry } from '../audit/index.ts';
import { type Ledger, listTasks, readLaneIds } from '../ledger/index.ts';
import { cancelTree, type Intake, sessionLane } from '../queue/index.ts';
import { redisNow } from '../redis/index.ts';
import type { ReplyAddress, Task } from '../tasks/index.ts';
import type { Answerer } from '../waits/index.ts';
import { answerByWords } from './answer-in-session.ts';
import { withWait } from './describe-wait.ts';
import { describeMode, describeSession, excerpt, HOW_TO_CHOOSE, plainWords } from './describe-session.ts';
import { listReportingRuns } from './reporting-runs.ts';
import { chooseMode } from './routing.ts';
import { readSession } from './session-record.ts';
import { beginTranscript, readChoices } from './session-store.ts';

/** A command as a person sent it. */
export interface SessionCall {
  tenant: string;
  session: string;
  /** Who sent it, by the surface's own id; null when unknown. */
  user: string | null;
  surface: string;
  channel: string | null;
  /** The agent that a message sent in its place would go to. */
  agent: string;
  /** What stands behind the command's name. */
  argument: string;
  /** Who they are to a question; null for who may answer none. */
  answerer: Answerer | null;
  reply: ReplyAddress | null;
  /** The same when the message is sent again, to make something once; null when its surface has none. */
  idempotencyKey: string | null;
}

/** A right of a person in a session: to make schedules, or to reach and stop what runs. */
export type SessionRight = 'schedule' | 'steer';

/** A command of a session. */
export interface SessionCommand {
  /** The right that it takes; absent for none. */
  readonly needs?: SessionRight;
  /** Its line in `/help`, which begins with the command. */
  readonly help: string;
  /** Runs at once, whatever tasks run; returns the answer for the person, or that with what it changed. */
  run(call: SessionCall): Promise<string | CommandAnswer>;
}

/** The answer of a command that knows what it changed. Others that need a right are entries of the audit log on their session; others that need none, no entries. */
export interface CommandAnswer {
  text: string;
  /** For the audit log, with its action behind `chat`; null when nothing was to change. */
  change: Pick<AuditEntry, 'action' | 'object' | 'outcome' | 'code'> | null;
}

/** By name: the commands of every session, and the given ones. */
export function createCommands(
  { ledger, queues }: Pick<Intake, 'ledger' | 'queues'>,
  others: Readonly<Record<string, SessionCommand>>,
): ReadonlyMap<string, SessionCommand> {
  const own: Record<string, SessionCommand> = {
    stop: {
      needs: 'steer',
      help: '/stop withdraws what waits and stops what runs, runs of schedules that report here too',
      run: async ({ tenant, session, argument }) => {
        return withNote(describeStop(await stopSession(ledger, tenant, session, 'stopped by /stop')), argument);
      },
    },
    answer: {
      help: '/answer <words> answers what is asked here',
      run: ({ answerer, argument, ...call }) =>
        answerByWords(ledger, { ...call, text: argument, ...(answerer === null ? {} : { answerer }) }),
    },
    new: {
      help: '/new begins a fresh transcript: the agent no longer sees what came before',
      run: async ({ tenant, session, argument }) => {
        await beginTranscript(ledger, tenant, session);
        return withNote('A fresh transcript begins: the agent no longer sees what came before. What runs or waits goes on.', argument);
      },
    },
    status: {
      help: '/status says what runs, what waits, why, and about how long, and which runs of schedules report here',
      run: async ({ tenant, session, surface, argument }) => {
        const now = await redisNow(ledger.redis);
        const record = await readSession({ ledger }, tenant, session, { surface, words: plainWords(now) });
        return withNote(describeSession(await withWait({ ledger, queues }, tenant, record), now), argument);
      },
    },
    queue: {
      help: [
        '/queue shows what becomes of a message that arrives while the agent works; /queue <mode> chooses it for this session',
        '/queue <mode> with a text sends that text in that mode, this once',
      ].join('\n'),
      run: async ({ tenant, session, surface }) => {
        const choices = await readChoices(ledger, tenant, session);
        return `${describeMode(chooseMode(ledger.settings, { inline: null, choices, surface }), surface)} ${HOW_TO_CHOOSE}`;
      },
    },
    help: {
      help: '/help shows this',
      run: ({ argument }) => Promise.resolve(withNote([...commands.values()].map(({ help }) => help).join('\n'), argument)),
    },
  };
  // Own commands win, and are listed last, so that `/help` stands at the end.
  const commands = new Map([...Object.entries(others).filter(([name]) => !Object.hasOwn(own, name)), ...Object.entries(own)]);
  return commands;
}

function describeStop({ withdrawn, stopped, runs }: SessionStop): string {
  if (withdrawn + stopped === 0) return 'Nothing runs and nothing waits.';
  const waiting = withdrawn === 0 ? 'Nothing waited' : `Withdrew ${withdrawn} that had not started`;
  const counts = `${waiting}; ${stopped === 0 ? 'nothing ran' : `stopping ${stopped === 1 ? 'the running task' : `${stopped} running tasks`}`}.`;
  return runs.length === 0 ? counts : `${counts}\n${describeRuns(runs)}`;
}

const RUNS_NAMED = 10;

function describeRuns(runs: readonly Task[]): string {
  const names = runs.slice(0, RUNS_NAMED).map(({ body }) => excerpt(body.input));
  const named = `${names.join(', ')}${runs.length > RUNS_NAMED ? ', and more' : ''}`;
  return `Of these ${runs.length === 1 ? 'a run of a schedule' : `${runs.length} runs of schedules`}: ${named}.`;
}

/** Text behind a command without arguments must not vanish without a word. */
function withNote(answer: string, argument: string): string {
  return argument === '' ? answer : `${answer}\nWhat stood behind the command was not sent to the agent.`;
}

interface SessionStop {
  /** Tasks that had not started. */
  withdrawn: number;
  /** Running tasks whose worker was asked to stop. */
  stopped: number;
  /** Of these, the runs of schedules that report into it. */
  runs: Task[];
}

/** The session's suspended runs, by id. */
async function listSuspended(ledger: Ledger, tenant: string, session: string): Promise<string[]> {
  const { items } = await listTasks(ledger, tenant, { session, status: ['suspended'] }, { limit: MAX_SUSPENDED });
  return items.map(({ body }) => body.id);
}

/** Bound of the suspended runs of a session that one stop reaches. */
const MAX_SUSPENDED = 500;
/** Bound of the tasks that one stop reaches: more than may wait in a session by chat. */
const MAX_TASKS = 10_000;
const AT_ONCE = 50;

/**
 * Stops a session: first its waiting tasks, from the end of the line, so that none starts in between; then the lane's holders, the suspended
 * runs that others went before, and the runs of schedules that report into it; each with its sub-tasks. Later messages are not touched, and schedules go on.
 */
export async function stopSession(ledger: Ledger, tenant: string, id: string, reason: string): Promise<SessionStop> {
  const { waiting, held } = await readLaneIds(ledger, tenant, sessionLane(id), MAX_TASKS);
  const [runs, suspended] = await Promise.all([listReportingRuns(ledger, tenant, id), listSuspended(ledger, tenant, id)]);
  const counts = { withdrawn: 0, stopped: 0 };
  const ended = new Set<string>();
  const stop = async (task: string): Promise<void> => {
    const { answer } = await cancelTree(ledger, tenant, task, reason);
    if (answer.kind === 'cancelled' && !suspended.includes(task)) counts.withdrawn += 1;
    else if (answer.kind === 'cancelled' || answer.kind === 'stopping') counts.stopped += 1;
    if (answer.kind === 'cancelled' || answer.kind === 'stopping') ended.add(task);
  };
  await pMap(waiting.toReversed(), stop, { concurrency: AT_ONCE });
  const others = [...new Set([...suspended, ...runs.map(({ body }) => body.id)])].filter((run) => !held.has(run) && !waiting.includes(run));
  await pMap([...held.keys(), ...others], stop, { concurrency: AT_ONCE });
  return { ...counts, runs: runs.filter(({ body }) => ended.has(body.id)) };
}
