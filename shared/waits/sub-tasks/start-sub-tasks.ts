import { MusterError, type ErrorCode } from '../../errors/index.ts';
import {
  type Delegation,
  type Ledger,
  noteDelegation,
  noteLater,
  readDelegation,
  readHeads,
  readStates,
  yieldLanes,
} from '../../ledger/index.ts';
import { attemptTraceparent } from '../../log/index.ts';
import { type AcceptRequest, acceptTasks, type Intake } from '../../queue/index.ts';
import type { TaskBody } from '../../tasks/index.ts';
import { resumeParent } from './resume-parent.ts';
import type { RunningWait } from '../see-to-wait.ts';
import { delegatedBy, type NamedSubTask } from './sub-tasks.ts';

type Refused = Delegation['refused'];

/** These pass by themselves: a run waits for that too. */
const PASSING: ReadonlySet<ErrorCode> = new Set(['limit.rate', 'limit.waiting', 'limit.pressure']);

/**
 * Accepts the sub-tasks that a run waits for, each once, and resumes the run where all have ended before. Resolves to why some cannot be accepted
 * yet; else to null.
 */
export async function startSubTasks(intake: Intake, { body, state, entry }: RunningWait): Promise<string | null> {
  const { ledger } = intake;
  const name = { tenant: body.tenant, id: body.id, seq: entry.seq };
  if ((await readDelegation(ledger, name)) === null) {
    const tasks = delegatedBy(entry);
    const line = await ancestorsOf(ledger, body);
    const { refused, passing } = await acceptMissing(intake, { body, line, priority: state.priority, token: state.token }, tasks);
    await yieldSessions(ledger, line, tasks);
    if (passing !== null) {
      await noteLater(ledger, name, passing.message);
      return passing.message;
    }
    await noteDelegation(ledger, name, { ids: tasks.map(({ id }) => id), refused });
  }
  await resumeParent(ledger, name);
  return null;
}

type Ancestor = Pick<TaskBody, 'id' | 'tenant' | 'agent' | 'session' | 'parentTaskId'>;

/** A task and those above it, from the first one. */
async function ancestorsOf(ledger: Ledger, task: Ancestor): Promise<Ancestor[]> {
  const line = [task];
  let above = task.parentTaskId;
  while (above !== null && line.length <= ledger.settings.runaways.maxDepth) {
    const head = (await readHeads(ledger, task.tenant, [above])).get(above);
    if (!head) break;
    line.unshift({ ...head, tenant: task.tenant });
    above = head.parentTaskId;
  }
  return line;
}

interface Parent {
  body: TaskBody;
  priority: number;
  /** Of the attempt that delegates. */
  token: number;
  line: readonly Ancestor[];
}

interface Acceptance {
  /** Why some were refused for good. */
  refused: Refused;
  /** Why others cannot be accepted yet. */
  passing: MusterError | null;
}

/** Those that the ledger has already are not counted below their root again. */
async function acceptMissing(intake: Intake, parent: Parent, tasks: readonly NamedSubTask[]): Promise<Acceptance> {
  const { ledger } = intake;
  const { tenant } = parent.body;
  const states = await readStates(
    ledger,
    tenant,
    tasks.map(({ id }) => id),
  );
  const refused: Refused = {};
  let passing: MusterError | null = null;
  const missing = tasks.filter((task, place) => {
    const loop = loopOf(parent.line, task);
    if (loop) refused[task.id] = loop;
    return !states[place] && !loop;
  });
  const answers = await acceptTasks(
    intake,
    missing.map((task) => requestOf(parent, task)),
  );
  for (const [place, answer] of answers.entries()) {
    if (!(answer instanceof Error)) continue;
    if (!(answer instanceof MusterError) || answer.code.startsWith('unavailable.')) throw answer;
    if (PASSING.has(answer.code)) passing = answer;
    else refused[missing[place]?.id ?? ''] = { code: answer.code, message: answer.message };
  }
  return { refused, passing };
}

/** Why a sub-task would lead in a circle: its agent is that of its parent, or of a task above that. */
function loopOf(line: readonly Ancestor[], { agent }: NamedSubTask): Refused[string] | null {
  const agents = line.map((task) => task.agent);
  if (!agents.includes(agent)) return null;
  return { code: 'task.loop', message: `Sub-tasks lead in a circle: ${[...agents, agent].join(' > ')}` };
}

/** It has the rights, the trace and the deadline of its parent. Its priority is one lower unless it says, and it has a session only if it says. */
function requestOf({ body: parent, priority, token }: Parent, { timeoutMs, deadline, ...task }: NamedSubTask): AcceptRequest {
  const until = Math.min(deadline === undefined ? Infinity : Date.parse(deadline), parent.deadline ?? Infinity);
  const { deadlineAborts } = parent.execution;
  return {
    priority: Math.max(1, priority - 1),
    ...task,
    tenant: parent.tenant,
    source: 'delegation',
    parentTaskId: parent.id,
    parentWaits: true,
    traceparent: attemptTraceparent(parent, token),
    ...(parent.keyId !== null && { keyId: parent.keyId }),
    ...(parent.correlationId !== null && { correlationId: parent.correlationId }),
    ...(until < Infinity && { deadline: new Date(until).toISOString() }),
    execution: { ...(timeoutMs !== undefined && { timeoutMs }), ...(deadlineAborts && { deadlineAborts }) },
  };
}

/** Runs that wait let the sub-tasks below them go first in their own sessions. */
async function yieldSessions(ledger: Ledger, line: readonly Ancestor[], tasks: readonly NamedSubTask[]): Promise<void> {
  const sessions = new Set(tasks.flatMap(({ session }) => session ?? []));
  const holders = line.filter(({ session }) => session !== null && sessions.has(session));
  const [tenant] = holders.map((task) => task.tenant);
  if (tenant !== undefined)
    await yieldLanes(
      ledger,
      tenant,
      holders.map(({ id }) => id),
    );
}
