import { hostname } from 'node:os';
import { executeTicket, type ExecuteTicketParts } from '#shared/execution/index.ts';
import type { TicketClaim } from '#shared/ledger/index.ts';
import { openDispatcher, type Parts } from '#shared/lifecycle/index.ts';
import type { SlotPolicy, TicketData, TicketResult } from '#shared/queue/index.ts';
import { CapableWorker } from './capable-worker.ts';

/** A worker's part in the queue `remote`. */
export interface Remote {
  start(): void;
  stop(): Promise<void>;
  /** Takes a ticket of that queue to its end, here or at a daemon. */
  handle(ticket: TicketData, how: TicketClaim): Promise<TicketResult>;
  /** Why it receives nothing, in words; else null. */
  readonly problem: string | null;
}

interface RemoteOptions {
  worker: string;
  executor: ExecuteTicketParts;
  policy: SlotPolicy;
}

/** Opens it for a worker with `MUSTER_CAPABILITIES` and slots for that queue; null for any other. */
export function openRemote(parts: Parts, { worker, executor, policy }: RemoteOptions): Remote | null {
  const { MUSTER_CAPABILITIES: capabilities = [] } = parts.config.env;
  const slots = policy.weights.get('remote') ?? 0;
  if (capabilities.length === 0 || slots === 0) return null;
  const capable = new CapableWorker({
    worker,
    host: hostname(),
    capabilities,
    slots,
    ledger: executor.ledger,
    isDraining: () => executor.isDraining(),
    execute: (ticket, how) => executeTicket(executor, ticket, how),
    log: parts.log,
  });
  const { directory, dispatcher } = openDispatcher(parts, { name: worker, executor, local: capable, keepsSlot: false });
  return {
    start: () => {
      directory.start();
      dispatcher.start();
      capable.start();
    },
    stop: async () => {
      await Promise.all([capable.stop(), dispatcher.stop()]);
      await directory.stop();
    },
    handle: (ticket, how) => dispatcher.handle(ticket, how),
    get problem() {
      return dispatcher.problem;
    },
  };
}
