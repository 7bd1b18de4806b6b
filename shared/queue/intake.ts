import type { AgentDefinition } from '../config/index.ts';
import type { Ledger } from '../ledger/index.ts';
import type { Log } from '../log/index.ts';
import type { Queues } from './queues.ts';
import type { TicketRelay } from './ticket-relay.ts';

/** What accepting a task needs. */
export interface Intake {
  readonly ledger: Ledger;
  readonly relay: TicketRelay;
  readonly queues: Queues;
  readonly log: Log;
  /** The agent of this name in the tenant's catalog, or null. */
  findAgent(tenant: string, id: string): Promise<AgentDefinition | null>;
}
