import { afterAll } from 'vitest';
import { waitFor } from '../wait-for.ts';

/** What a test may leave open by mistake and what then keeps a process alive: sockets, servers, children, pipes, watchers. */
const WATCHED = /^(TCP|UDP|Pipe|Process|FSEvent|StatWatcher)/;

/** Closing is not instant: the other side has to answer, which takes seconds on a busy machine. */
const CLOSING_MS = 5000;

// Node opens the standard streams when somebody first asks for them; they are nobody's leak.
void process.stdin;
void process.stdout;
void process.stderr;

const before = countHandles();

afterAll(async () => {
  const leaked = await waitFor(() => extraHandles().length === 0, { deadlineMs: CLOSING_MS, what: 'all handles to close' }).then(
    () => [],
    extraHandles,
  );
  if (leaked.length > 0) throw new Error(`The tests of this file left handles open: ${leaked.join(', ')}`);
});

function extraHandles(): string[] {
  return [...countHandles()]
    .filter(([name, count]) => count > (before.get(name) ?? 0))
    .map(([name, count]) => `${name}: ${count - (before.get(name) ?? 0)}`);
}

function countHandles(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of process.getActiveResourcesInfo()) {
    if (WATCHED.test(name)) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}
