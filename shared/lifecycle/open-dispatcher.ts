import { DaemonDirectory, DaemonDispatcher, type LocalDaemons } from '../daemons/index.ts';
import { executeTicket, type ExecuteTicketParts } from '../execution/index.ts';
import type { Parts } from './open-parts.ts';

/** What runs attempts in this process, but for what isolates them and runs their agents. */
type Executor = Omit<ExecuteTicketParts, 'isolation' | 'runIsolated' | 'runAgent'>;

interface DispatcherOptions {
  /** This hub or worker. */
  name: string;
  executor: Executor;
  /** Those that run tasks in this process, or over its connections. */
  local: LocalDaemons;
  /** Whether a ticket keeps its slot here while another hub runs its task. */
  keepsSlot: boolean;
}

interface Dispatching {
  directory: DaemonDirectory;
  dispatcher: DaemonDispatcher;
}

/** Opens the choice of a daemon for each task of the queue `remote`, and what it knows of all daemons. */
export function openDispatcher(parts: Parts, { name, executor, local, keepsSlot }: DispatcherOptions): Dispatching {
  const { redis, keys, log, settings } = parts;
  const { directoryMs } = settings.hub;
  const subscribe: Parts['subscribe'] = (...channels) => parts.subscribe(...channels);
  const directory = new DaemonDirectory({ redis, keys, subscribe, log, refreshMs: directoryMs });
  const dispatcher = new DaemonDispatcher({
    hub: name,
    ledger: executor.ledger,
    directory,
    local,
    keepsSlot,
    findAgent: (tenant, id) => parts.findAgent(tenant, id),
    // Claims a task only to fail it.
    fail: (ticket, how, failure) => {
      const refusing = { isolation: () => undefined, runIsolated: returnTicket, runAgent: () => Promise.reject(failure) };
      return executeTicket({ ...executor, ...refusing }, ticket, how);
    },
    subscribe,
    settings: settings.hub,
    log,
  });
  return { directory, dispatcher };
}

function returnTicket(): Promise<{ kind: 'returned' }> {
  return Promise.resolve({ kind: 'returned' });
}
