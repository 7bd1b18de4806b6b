import type { AgentTurn } from '../config/index.ts';
import {
  type Ledger,
  readInputs,
  readTask,
  readTasks,
  type TakenInput,
  idAt,
  parseKnownState,
  readLookup,
  sessionLookup,
} from '../ledger/index.ts';
import { type Task, type TaskState, turnsOf } from '../tasks/index.ts';
import { truncateBytes } from '../text/index.ts';
import { readRecords } from '../redis/index.ts';
import { readChoices } from './session-store.ts';

interface TranscriptOptions {
  /** The task that gets the transcript, which is left out. */
  before?: string;
}

/** Records read at once: each may hold as much as an output may be long. */
const BATCH = 10;
/** Marks the end of a text that was cut. */
const CUT = '…';

/**
 * The turns of a session so far, oldest first: the inputs and outputs of its completed tasks. At most `sessions.transcriptTurns` turns and
 * `sessions.transcriptBytes` bytes, of which the oldest go first, and none from before the transcript was last restarted. A longer last
 * turn, such as a file, is cut to its beginning, so that the agent knows what the next question is about.
 */
export async function readTranscript(
  ledger: Ledger,
  tenant: string,
  session: string,
  { before }: TranscriptOptions = {},
): Promise<AgentTurn[]> {
  const refs = await listTurns(ledger, { tenant, session, ...(before === undefined ? {} : { except: before }) });
  const turns = new NewestTurns(ledger.settings.sessions);
  for (let from = 0; from < refs.length && !turns.isFull; from += BATCH) {
    const ids = refs.slice(from, from + BATCH).map(({ id }) => id);
    for (const task of await readTasks(ledger, tenant, ids)) if (task) await turns.addTask(ledger, task);
  }
  return turns.oldestFirst;
}

/**
 * The turns that lead to a response of OpenAI's protocol, oldest first, as `readTranscript` bounds them: of its task, of the one that this followed, and so on.
 * Other responses that followed one of them are left out. A task that is no longer kept ends the chain.
 */
export async function readResponseChain(ledger: Ledger, tenant: string, last: string): Promise<AgentTurn[]> {
  const turns = new NewestTurns(ledger.settings.sessions);
  for (let id: string | undefined = last; id !== undefined && !turns.isFull;) {
    const task: Task | null = await readTask(ledger, tenant, id);
    if (!task) break;
    await turns.addTask(ledger, task);
    id = task.body.request?.previous?.task;
  }
  return turns.oldestFirst;
}

/** NewestTurns is responsible for gathering turns from the newest on, within the bounds of a transcript. */
class NewestTurns {
  readonly #turns: AgentTurn[] = [];
  readonly #maxTurns: number;
  #leftBytes: number;
  #isFull = false;

  constructor({ transcriptTurns, transcriptBytes }: { transcriptTurns: number; transcriptBytes: number }) {
    this.#maxTurns = transcriptTurns;
    this.#leftBytes = transcriptBytes;
  }

  get isFull(): boolean {
    return this.#isFull || this.#turns.length >= this.#maxTurns;
  }

  get oldestFirst(): AgentTurn[] {
    return this.#turns.toReversed();
  }

  /** Adds the turn of a task, and those that its request brought. */
  async addTask(ledger: Ledger, task: Task): Promise<void> {
    const own = await turnOf(ledger, task.body.tenant, task);
    for (const turn of [own, ...turnsOf(task.body.request, task.body.id).toReversed()]) this.#add(turn);
  }

  #add(turn: AgentTurn): void {
    if (this.isFull) return;
    const bytes = bytesOf(turn);
    if (bytes > this.#leftBytes) {
      this.#isFull = true;
      if (this.#turns.length === 0 && this.#leftBytes > 0) this.#turns.push(cutTurn(turn, this.#leftBytes));
      return;
    }
    this.#leftBytes -= bytes;
    this.#turns.push(turn);
  }
}

function bytesOf({ input, output, messages }: AgentTurn): number {
  return messages === undefined ? Buffer.byteLength(input) + Buffer.byteLength(output) : Buffer.byteLength(JSON.stringify(messages));
}

async function turnOf(ledger: Ledger, tenant: string, { body, state, output }: Task): Promise<AgentTurn> {
  const inputs = await readInputs(ledger, tenant, state.inputs ?? []);
  return {
    taskId: body.id,
    input: composeInput(body.input, inputs, state),
    output: output ?? '',
  };
}

/** Half of the room for the answer, and what the question or the answer leaves of its half for the other. */
function cutTurn({ messages: _messages, ...turn }: AgentTurn, bytes: number): AgentTurn {
  const half = Math.floor(bytes / 2);
  const outputBytes = Math.min(Buffer.byteLength(turn.output), Math.max(half, bytes - Buffer.byteLength(turn.input)));
  return { ...turn, input: cutBytes(turn.input, bytes - outputBytes), output: cutBytes(turn.output, outputBytes) };
}

/** At most so many bytes of a text; no character is cut in two. */
function cutBytes(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  const kept = truncateBytes(text, Math.max(bytes - Buffer.byteLength(CUT), 0));
  return `${kept}${CUT}`;
}

/** Between the messages that make one input. */
const BREAK = '\n\n';
const LEFT_OUT_HEADING = 'Earlier messages that were left out, because too many waited, by how they began:';

/**
 * The input of an agent whose task has further messages, with a blank line between two: messages carried over from a stopped task, merged
 * ones that the platform numbered before the task's own (`order`), the task's own text, then merged or steered messages in their order. A
 * line about each message that was left out comes first (`leftOut`: how they began).
 */
export function composeInput(
  own: string,
  inputs: readonly Pick<TakenInput, 'how' | 'text' | 'order'>[],
  { leftOut = [], order }: Partial<Pick<TaskState, 'leftOut' | 'order'>> = {},
): string {
  const texts = { carried: [] as string[], earlier: [] as string[], later: [] as string[] };
  for (const { how, text, order: number } of inputs) {
    const place = how === 'merged' && Number(number) < Number(order) ? 'earlier' : 'later';
    texts[how === 'carried' ? 'carried' : place].push(text);
  }
  const notes =
    leftOut.length === 0 ? [] : [[LEFT_OUT_HEADING, ...leftOut.map((text) => `- ${text.replaceAll(/\s+/g, ' ').trim()}`)].join('\n')];
  return [...notes, ...texts.carried, ...texts.earlier, own, ...texts.later].join(BREAK);
}

interface TurnsOfSession {
  tenant: string;
  session: string;
  /** A task that does not count. */
  except?: string;
}

/** A task of a session that is a turn of its transcript. */
interface TurnRef {
  id: string;
  /** When it was run, ms since the epoch. */
  startedAt: number;
}

/** Ids are made by the clock of the process that accepts, and the transcript begins by Redis's. */
const CLOCKS_APART_MS = 60_000;
/** States read at once. */
const PAGE = 100;
/** Bound of the tasks read for one transcript: a session may have many that came to nothing. */
const MAX_SCANNED = 2000;

/**
 * The turns of a session's transcript, the last run first, at most `sessions.transcriptTurns`: its tasks that completed
 * themselves, since the transcript was last restarted.
 */
async function listTurns(ledger: Ledger, { tenant, session, except }: TurnsOfSession): Promise<TurnRef[]> {
  const { transcriptTurns } = ledger.settings.sessions;
  const from = (await readChoices(ledger, tenant, session)).transcriptFrom ?? 0;
  const low = idAt(from - CLOCKS_APART_MS);
  const lookup = sessionLookup(ledger, tenant, session);
  const turns: TurnRef[] = [];
  let cursor: string | null = null;
  for (let scanned = 0; scanned < MAX_SCANNED && turns.length < transcriptTurns; scanned += PAGE) {
    const ids = await readLookup(ledger, lookup, { low, before: cursor, max: PAGE });
    const times = await readTimes(ledger, tenant, ids);
    turns.push(...ids.flatMap((id, position) => turnRefOf(id, times[position] ?? null, from)).filter(({ id }) => id !== except));
    cursor = ids.at(-1) ?? null;
    if (ids.length < PAGE) break;
  }
  // They were accepted in one order and, where a platform numbers its messages, run in another.
  return turns.slice(0, transcriptTurns).toSorted((a, b) => b.startedAt - a.startedAt);
}

/** When a task that completed by itself was accepted and run, ms since the epoch. */
interface Times {
  createdAt: number;
  startedAt: number;
}

/** Null for a task that did not complete by itself. */
async function readTimes(ledger: Ledger, tenant: string, ids: readonly string[]): Promise<(Times | null)[]> {
  if (ids.length === 0) return [];
  const states = await ledger.redis.hmget(ledger.keys.tenant(tenant).states, ...ids);
  // A state that cannot be read is no turn.
  return states.map((state) => readRecords(state === null ? [] : [['', state] as const], timesOf).items[0] ?? null);
}

function timesOf(text: string): Times | null {
  const { status, outcome, createdAt, startedAt = 0 } = parseKnownState(text);
  return status === 'completed' && (outcome?.kind ?? 'ran') === 'ran' ? { createdAt, startedAt } : null;
}

function turnRefOf(id: string, times: Times | null, from: number): TurnRef[] {
  return times === null || times.createdAt < from ? [] : [{ id, startedAt: times.startedAt }];
}

/** How many turns a session's transcript has, up to `sessions.transcriptTurns`. Bytes are not counted. */
export async function countTurns(ledger: Ledger, tenant: string, session: string): Promise<number> {
  return (await listTurns(ledger, { tenant, session })).length;
}
