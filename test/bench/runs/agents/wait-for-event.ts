import type { AgentFunction } from '#shared/config/define-config.ts';
import { monotonicMs } from '../../fixtures/monotonic-ms.ts';

/** Waits for the event of its task, of its number where it has one, or until a time; then it logs that it goes on. */
export const run: AgentFunction = async ({ context }, { waitFor, sleep, log }) => {
  const { name, n, until } = context as { name: string; n?: number; until?: number };
  const late = (): number => Date.now() - (until ?? Date.now());
  if (until === undefined) await waitFor(name, n === undefined ? {} : { match: { n } });
  else await sleep(new Date(until));
  if (n !== undefined) log.info({ event: 'bench.resumed', of: n, atMs: monotonicMs(), lateMs: late() }, 'resumed');
};
