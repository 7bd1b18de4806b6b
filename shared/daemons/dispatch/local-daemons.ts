import type { TicketClaim } from '../../ledger/index.ts';
import type { TicketData, TicketResult } from '../../queue/index.ts';
import type { DaemonState } from '../daemon-state.ts';
import { ANY_TENANT } from './daemon-directory.ts';

/** A daemon whose connection this process holds. */
export interface LocalDaemon {
  /** `ANY_TENANT` for a worker. */
  readonly tenant: string;
  readonly id: string;
  /** As it is now, with what it runs. */
  readonly state: DaemonState;
  /** Takes one of its slots at once, claims the task for it and runs it to its end, then frees the slot. */
  run(ticket: TicketData, how: TicketClaim): Promise<TicketResult>;
}

/** The daemons of this process. */
export interface LocalDaemons {
  find(tenant: string, id: string): LocalDaemon | undefined;
  all(): Iterable<LocalDaemon>;
  /** Called when a daemon connected, or has a slot free that it did not have. */
  onRoom(listener: (daemon: LocalDaemon) => void): void;
}

/** Whether a daemon runs tasks of this tenant. */
export function serves({ tenant: own }: Pick<LocalDaemon, 'tenant'>, tenant: string): boolean {
  return own === tenant || own === ANY_TENANT;
}
