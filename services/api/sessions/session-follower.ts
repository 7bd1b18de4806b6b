import type { EventStream } from '#shared/http/index.ts';
import { readStates, readTask, readTasks, idAt, type Ledger, readLaneIds, readLookup, sessionLookup } from '#shared/ledger/index.ts';
import { isTerminal, type Task, type TaskState, type TaskStatus } from '#shared/tasks/index.ts';
import { writeOutput } from '../tasks/stream-output.ts';
import { artifactsOf, outcomeOf, readHistory, turnOf } from './session-turns.ts';
import type { SessionStreamPorts, SessionWatch } from './stream-session.ts';
import { sessionLane } from '#shared/queue/index.ts';
import { toIso } from '#shared/time/index.ts';
import { findKeptQuestion, questionAwaited, questionOfSession, type QuestionRecord } from '#shared/waits/index.ts';

interface FollowerOptions {
  parts: SessionStreamPorts;
  tenant: string;
  session: string;
  watch: Pick<SessionWatch, 'add' | 'remove'>;
  stream: EventStream;
  /** The output that the reader saw last; null for none. */
  after: string | null;
}

/** Messages of the history that a reader gets first. */
const MAX_HISTORY = 100;
/** Bound of the messages between two reads. */
const MAX_NEW = 200;
/** The clocks of accepting processes may differ by so much. */
const CLOCKS_APART_MS = 60_000;
/** Ended tasks whose ids are kept, so that none is sent twice. */
const MAX_REMEMBERED = 1000;

/** SessionFollower is responsible for sending one reader each message once, and all that happens to it, in order. */
export class SessionFollower {
  readonly #options: FollowerOptions;
  /** Tasks that have not ended, with what the reader was sent of each. */
  readonly #live = new Map<string, { status: TaskStatus; after: string | null; question?: string }>();
  readonly #sent = new Set<string>();

  constructor(options: FollowerOptions) {
    this.#options = options;
  }

  /** Sends the latest messages, and follows those without an outcome. */
  async begin(): Promise<void> {
    const { parts, tenant, session, stream } = this.#options;
    const ids = await listSessionTasks(parts.ledger, { tenant, session, since: 0, limit: MAX_NEW });
    const { ended, live } = await readHistory(parts, tenant, ids);
    const running = new Set(live.map(({ body }) => body.id));
    for (const id of ids) if (!running.has(id)) this.#sent.add(id);
    await stream.send('history', { items: ended.slice(-MAX_HISTORY) });
    for (const task of live) await this.#follow(task);
  }

  /** Sends messages that came since. */
  async discover(): Promise<void> {
    const { parts, tenant, session } = this.#options;
    const since = Date.now() - CLOCKS_APART_MS;
    const ids = await listSessionTasks(parts.ledger, { tenant, session, since, limit: MAX_NEW });
    const unknown = ids.filter((id) => !this.#live.has(id) && !this.#sent.has(id));
    for (const task of await readTasks(parts.ledger, tenant, unknown)) if (task) await this.#follow(task);
  }

  /** Sends what happened to these tasks, or to all that have not ended. */
  async update(hinted?: ReadonlySet<string>): Promise<void> {
    const { parts, tenant } = this.#options;
    const ids = [...this.#live.keys()].filter((id) => hinted?.has(id) ?? true);
    // The state before the output: output from before a task's end is then sent before the end.
    const states = await readStates(parts.ledger, tenant, ids);
    for (const [position, id] of ids.entries()) {
      const state = states[position];
      if (state && isTerminal(state.status)) await this.#end(id);
      else if (state) await this.#show(id, state);
      else this.#forget(id);
    }
  }

  async #follow(task: Task): Promise<void> {
    const { taskId, text, user, agent, status, createdAt, attachments } = turnOf(task);
    await this.#options.stream.send('message', { taskId, text, user, agent, status, createdAt, attachments });
    this.#live.set(taskId, { status, after: this.#options.after });
    this.#options.watch.add(taskId);
    if (isTerminal(status)) await this.#end(taskId);
    else await this.#show(taskId, task.state);
  }

  /** Sends the new status and output of a task that has not ended. */
  async #show(taskId: string, state: TaskState): Promise<void> {
    const known = this.#live.get(taskId);
    if (!known) return;
    const { status } = state;
    if (status !== known.status) await this.#options.stream.send('status', { taskId, status, outcome: outcomeOf(state) });
    known.status = status;
    if (state.attempt > 0) await this.#writeOutput(taskId);
    await this.#showQuestion(taskId, state);
  }

  /** Sends what the run asks when the session's turn for that comes, and how it ended. */
  async #showQuestion(taskId: string, state: TaskState): Promise<void> {
    const { parts, tenant, session } = this.#options;
    const known = this.#live.get(taskId);
    const open = questionAwaited(state);
    if (!known || (known.question ?? null) === open) return;
    if (known.question !== undefined) await this.#sendQuestion(await findKeptQuestion(parts.ledger, tenant, known.question));
    delete known.question;
    const current = open === null ? null : await questionOfSession(parts.ledger, tenant, session);
    if (current === null || current.id !== open) return;
    await this.#sendQuestion(current);
    known.question = current.id;
  }

  /** Without who may answer, and who did: a visitor may read it. */
  async #sendQuestion(question: QuestionRecord | null): Promise<void> {
    if (question === null) return;
    const { taskId, id, question: text, choices, schema, status, answer, expiresAt } = question;
    await this.#options.stream.send('question', {
      taskId,
      id,
      question: text,
      choices,
      schema,
      status,
      answer,
      expiresAt: toIso(expiresAt),
    });
  }

  /** Sends the rest of a task that has ended, and its end. Only here its output is read as its record has it. */
  async #end(taskId: string): Promise<void> {
    const { parts, tenant, stream } = this.#options;
    const task = await readTask(parts.ledger, tenant, taskId);
    if (task && this.#live.has(taskId)) {
      const { status, outcome, output, error } = turnOf(task);
      if (task.state.attempt > 0) await this.#writeOutput(taskId);
      await this.#showQuestion(taskId, task.state);
      await stream.send('status', { taskId, status, outcome });
      const artifacts = await artifactsOf(parts, tenant, task);
      await stream.send('end', { taskId, status, output, outcome, error, artifacts });
    }
    this.#forget(taskId);
  }

  async #writeOutput(taskId: string): Promise<void> {
    const { parts, tenant, stream } = this.#options;
    const known = this.#live.get(taskId);
    if (known) known.after = await writeOutput(parts, { tenant, id: taskId, after: known.after, names: { taskId } }, stream);
  }

  #forget(id: string): void {
    this.#live.delete(id);
    this.#options.watch.remove(id);
    this.#sent.add(id);
    for (const oldest of this.#sent) {
      if (this.#sent.size <= MAX_REMEMBERED) break;
      this.#sent.delete(oldest);
    }
  }
}

/** Waiting tasks of the lane that are read. */
const WAITING = 100;

interface SessionTasks {
  tenant: string;
  session: string;
  /** Accepted since, ms by the clock of the process that accepted. */
  since: number;
  limit: number;
}

/**
 * Ids of a session's tasks, oldest first: the newest ones, and those in its lane, however old. The lane is read last, so that
 * a task that comes in between is among the newest.
 */
async function listSessionTasks(ledger: Ledger, { tenant, session, since, limit }: SessionTasks): Promise<string[]> {
  const [newest, { held, waiting }] = await Promise.all([
    readLookup(ledger, sessionLookup(ledger, tenant, session), { low: idAt(since), before: null, max: limit }),
    readLaneIds(ledger, tenant, sessionLane(session), WAITING),
  ]);
  return [...new Set([...newest, ...held.keys(), ...waiting])].toSorted();
}
