import { closeWait, type JournalKind, type Ledger, type NumberedEntry, type OpenWait, readEntry, readTask } from '../ledger/index.ts';
import type { TaskBody, TaskState } from '../tasks/index.ts';

/** A suspended run, at what it waits for. */
export interface RunningWait {
  body: TaskBody;
  state: TaskState;
  entry: NumberedEntry;
}

/**
 * What is done when a run begins to wait, by the kind of its entry: it resumes one for which what it waits for has come before, and lets people know.
 * Called once at least: another process does it again when one dies on the way.
 */
export type WaitHandlers = Readonly<Partial<Record<JournalKind, (wait: RunningWait) => Promise<void>>>>;

export interface WaitPorts {
  ledger: Ledger;
  waits: WaitHandlers;
}

/** Sees to the wait of a run that was suspended. */
export async function seeToWait({ ledger, waits }: WaitPorts, open: OpenWait): Promise<void> {
  const task = await readTask(ledger, open.tenant, open.id);
  const isThere = task?.state.suspended?.entry === open.entry;
  const entry = isThere ? await readEntry(ledger, open, open.entry) : null;
  if (task && entry?.status === 'waiting') await waits[entry.kind]?.({ body: task.body, state: task.state, entry });
  await closeWait(ledger, open);
}
