import { waitKinds } from '../waits/index.ts';
import { type AgentCaps, COMMANDS_KIND } from '../agents/index.ts';
import { type BudgetDirectory, budgetKind } from '../budgets/index.ts';
import type { Settings } from '../config/index.ts';
import { daemonKind } from '../daemons/index.ts';
import type { WaitGate } from '../errors/index.ts';
import type { ObjectArchive } from '../files/index.ts';
import { INTERRUPTIONS_KIND } from '../execution/index.ts';
import { createLedger, failuresKind, type GateKind, type IssuedTicket, type Ledger, pauseKind, repeatsKind } from '../ledger/index.ts';
import type { Log, Traces } from '../log/index.ts';
import type { FleetMetrics } from '../metrics/index.ts';
import { circuitKind } from '../models/index.ts';
import { providerKind } from '../providers/index.ts';
import {
  CancelRelay,
  continueCancel,
  loadOf,
  type OfferedSlots,
  queueKinds,
  type Queues,
  readOwedTickets,
  TicketRelay,
} from '../queue/index.ts';
import type { FsyncBarrier, Keys, RedisClient } from '../redis/index.ts';
import { priorityBand } from '../tasks/index.ts';
import type { FleetLimitsDirectory, Seal, TenantDirectory } from '../tenants/index.ts';
import { openBoundedTenants } from './bounded-tenants.ts';

interface LedgerPorts {
  redis: RedisClient;
  keys: Keys;
  settings: Settings;
  log: Log;
  tenants: TenantDirectory;
  fleetLimits: FleetLimitsDirectory;
  agentCaps: AgentCaps;
  budgets: BudgetDirectory;
  metrics: FleetMetrics;
  queues: Queues;
  offeredSlots: OfferedSlots;
  seal: Seal;
  traces: Traces | undefined;
  archive: ObjectArchive | undefined;
  fsync: FsyncBarrier | undefined;
}

/**
 * The ledger and its relays need each other: a granted task gets its ticket, and a ticket that is owed is read from the ledger; sub-tasks of
 * what a message stopped are cancelled in the ledger.
 */
export function openLedger(ports: LedgerPorts): { ledger: Ledger; relay: TicketRelay; cancels: CancelRelay } {
  const { tenants, agentCaps, fleetLimits, metrics, offeredSlots } = ports;
  const relay = new TicketRelay({ ...ports, readOwed: (entries) => readOwedTickets(ledger, entries) });
  const cancels = new CancelRelay({ run: (cancel, mayContinue) => continueCancel(ledger, cancel, mayContinue), log: ports.log });
  const ledger = createLedger({
    redis: ports.redis,
    keys: ports.keys,
    settings: ports.settings,
    seal: ports.seal,
    limitsOf: (tenant) => tenants.limitsOf(tenant),
    agentCapsOf: (tenant) => agentCaps.of(tenant),
    boundedTenants: openBoundedTenants({ tenants, agentCaps }),
    fleetLimits: () => fleetLimits.current(),
    fleetShareOf: (tenant) => fleetLimits.shareOf(tenant),
    counts: metrics.counts,
    traces: ports.traces,
    archive: ports.archive,
    fsync: ports.fsync,
    offeredSlots: (queue) => offeredSlots.of(queue),
    costOf: (tenant, agent, { queue, priority }) => metrics.serviceTimes.of(tenant, agent, priorityBand(queue, priority)),
    onTicket: (ticket) => relayTicket({ relay, ledger, log: ports.log }, ticket),
    onOpenCancel: (cancel) => cancels.add(cancel),
    gates: {
      ...queueKinds(ports),
      budget: budgetKind(ports),
      provider: providerKind(ports),
      circuit: circuitKind(ports),
      failures: failuresKind(ports),
      agent: pauseKind(ports),
      repeats: repeatsKind(ports),
      daemon: daemonKind(ports),
      commands: COMMANDS_KIND,
      interruptions: INTERRUPTIONS_KIND,
      ...waitKinds(ports),
    } satisfies Record<WaitGate, GateKind>,
  });
  return { ledger, relay, cancels };
}

function relayTicket({ relay, ...load }: { relay: TicketRelay; ledger: Ledger; log: Log }, ticket: IssuedTicket): void {
  const { task, tenant, queue, priority, number } = ticket;
  const fields = { event: 'task.queued', task, tenant, queue, priority, ...loadOf(load, tenant) };
  // A later one is of another try, which says itself how it ends.
  load.log[number === 1 ? 'info' : 'debug'](fields, 'a granted task gets its ticket');
  relay.add(ticket);
}
