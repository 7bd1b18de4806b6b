import type { AgentTurn } from '../config/index.ts';
import { type Ledger, readInputs, readTasks, type TakenInput } from '../ledger/index.ts';
import type { Task } from '../tasks/index.ts';
import { truncateBytes } from '../text/index.ts';
import { listTurns, type TurnRef } from './list-turns.ts';

/** A turn as agents get it, and whether a visitor wrote some of it. */
interface TranscriptTurn extends AgentTurn {
  readonly hasVisitor: boolean;
}

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
 * `sessions.transcriptBytes` bytes, of which the oldest go first, and none from before the transcript was last begun anew. A longer last
 * turn, such as a file, is cut to its beginning, so that the agent knows what the next question is about.
 */
export async function readTranscript(
  ledger: Ledger,
  tenant: string,
  session: string,
  { before }: TranscriptOptions = {},
): Promise<TranscriptTurn[]> {
  const refs = await listTurns(ledger, { tenant, session, ...(before === undefined ? {} : { except: before }) });
  const turns: TranscriptTurn[] = [];
  let leftBytes = ledger.settings.sessions.transcriptBytes;
  for (let from = 0; from < refs.length; from += BATCH) {
    for (const turn of await readTurns(ledger, tenant, refs.slice(from, from + BATCH))) {
      const bytes = Buffer.byteLength(turn.input) + Buffer.byteLength(turn.output);
      if (bytes > leftBytes) return turns.length === 0 && leftBytes > 0 ? [cutTurn(turn, leftBytes)] : turns.toReversed();
      leftBytes -= bytes;
      turns.push(turn);
    }
  }
  return turns.toReversed();
}

async function readTurns(ledger: Ledger, tenant: string, refs: readonly TurnRef[]): Promise<TranscriptTurn[]> {
  const ids = refs.map(({ id }) => id);
  const tasks = (await readTasks(ledger, tenant, ids)).filter((task) => task !== null);
  return await Promise.all(tasks.map((task) => turnOf(ledger, tenant, task)));
}

async function turnOf(ledger: Ledger, tenant: string, { body, state, output }: Task): Promise<TranscriptTurn> {
  const inputs = await readInputs(ledger, tenant, state.inputs ?? []);
  return {
    taskId: body.id,
    input: composeInput(body.input, inputs, state.leftOut),
    output: output ?? '',
    hasVisitor: [body, ...inputs].some(({ visitor }) => visitor !== null),
  };
}

/** Half of the room for the answer, and what the question or the answer leaves of its half for the other. */
function cutTurn(turn: TranscriptTurn, bytes: number): TranscriptTurn {
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
 * The input of an agent whose task has further messages, with a blank line between two: messages carried over from a stopped task, the
 * task's own text, then merged or steered messages in their order. A line about each message that was left out comes first (`leftOut`: how
 * they began).
 */
export function composeInput(own: string, inputs: readonly Pick<TakenInput, 'how' | 'text'>[], leftOut: readonly string[] = []): string {
  const carried = inputs.filter(({ how }) => how === 'carried');
  const others = inputs.filter(({ how }) => how !== 'carried');
  const notes =
    leftOut.length === 0 ? [] : [[LEFT_OUT_HEADING, ...leftOut.map((text) => `- ${text.replaceAll(/\s+/g, ' ').trim()}`)].join('\n')];
  return [...notes, ...carried.map(({ text }) => text), own, ...others.map(({ text }) => text)].join(BREAK);
}
