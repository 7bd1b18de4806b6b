import type { AgentTurn } from '../config/agent-function.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { readInputs } from '../ledger/read-inputs.ts';
import { readTasks } from '../ledger/read-tasks.ts';
import type { Task } from '../tasks/task.ts';
import { composeInput } from './compose-input.ts';
import { listTurns, type TurnRef } from './list-turns.ts';

export interface TranscriptOptions {
  /** A task that is left out: the one that asks what came before it. */
  before?: string;
}

/** Records read at once: each may hold as much as an output may be long. */
const BATCH = 10;

/**
 * What was said in a session so far, oldest first: of the tasks that completed, what the agent was asked and what it answered.
 * At most `sessions.transcriptTurns` turns and `sessions.transcriptBytes` bytes, of which the oldest go first, and none from
 * before the transcript was last begun anew.
 */
export async function readTranscript(
  ledger: Ledger,
  tenant: string,
  session: string,
  { before }: TranscriptOptions = {},
): Promise<AgentTurn[]> {
  const refs = await listTurns(ledger, { tenant, session, ...(before === undefined ? {} : { except: before }) });
  const turns: AgentTurn[] = [];
  let leftBytes = ledger.settings.sessions.transcriptBytes;
  for (let from = 0; from < refs.length; from += BATCH) {
    for (const turn of await readTurns(ledger, tenant, refs.slice(from, from + BATCH))) {
      leftBytes -= Buffer.byteLength(turn.input) + Buffer.byteLength(turn.output);
      if (leftBytes < 0) return turns.toReversed();
      turns.push(turn);
    }
  }
  return turns.toReversed();
}

async function readTurns(ledger: Ledger, tenant: string, refs: readonly TurnRef[]): Promise<AgentTurn[]> {
  const ids = refs.map(({ id }) => id);
  const tasks = (await readTasks(ledger, tenant, ids)).filter((task) => task !== null);
  return await Promise.all(tasks.map((task) => turnOf(ledger, tenant, task)));
}

async function turnOf(ledger: Ledger, tenant: string, { body, state, output }: Task): Promise<AgentTurn> {
  const inputs = await readInputs(ledger, tenant, state.inputs ?? []);
  return { taskId: body.id, input: composeInput(body.input, inputs, state.leftOut), output: output ?? '' };
}
