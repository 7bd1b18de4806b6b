import {
  answerRuns,
  closeWait,
  type JournalKind,
  type Ledger,
  type NumberedEntry,
  type OpenWait,
  readEntry,
  readTask,
} from '../ledger/index.ts';
import type { TaskBody, TaskState } from '../tasks/index.ts';
import { entryAwaited } from './questions/question.ts';

/** A run at what it waits for: suspended, or with a question that it put to people while it goes on. */
export interface RunningWait {
  body: TaskBody;
  state: TaskState;
  entry: NumberedEntry;
}

/**
 * What is done when a run begins to wait, by the kind of its entry: it resumes one for which what it waits for has come before, and lets people know.
 * Called once at least: another process does it again when one dies on the way. Resolves to why it is to be done again later; else to null.
 */
export type WaitHandlers = Readonly<Partial<Record<JournalKind, (wait: RunningWait) => Promise<string | null>>>>;

export interface WaitPorts {
  ledger: Ledger;
  waits: WaitHandlers;
}

/** Sees to the wait of a run. Returns why a process is to do so again; null once nobody is. */
export async function seeToWait(ports: WaitPorts, open: OpenWait): Promise<string | null> {
  const wait = await readWait(ports.ledger, open);
  const later = wait && (await see(ports, wait));
  if (later === null) await closeWait(ports.ledger, open);
  return later;
}

async function see({ ledger, waits }: WaitPorts, wait: RunningWait): Promise<string | null> {
  const { body, entry } = wait;
  if (entry.sealed === undefined) return (await waits[entry.kind]?.(wait)) ?? null;
  // What it waits for cannot be read: it goes on, to end with that. Once it can be, a retry comes to the same wait.
  await answerRuns(ledger, body.tenant, [{ id: body.id, entry }]);
  return null;
}

/** Null for a run that waits there no more. */
async function readWait(ledger: Ledger, open: OpenWait): Promise<RunningWait | null> {
  const task = await readTask(ledger, open.tenant, open.id);
  if (task === null || entryAwaited(task.state) !== open.entry) return null;
  const entry = await readEntry(ledger, open, open.entry);
  return entry?.status === 'waiting' ? { ...task, entry } : null;
}
