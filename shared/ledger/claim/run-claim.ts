import { agentLanes } from '../context.ts';
import type { Ledger } from '../ledger.ts';
import { capOfShard, fleetCap } from './fleet-cap.ts';

interface ClaimCall {
  shard: number;
  worker: string;
  /** BullMQ's own hash of each queue. */
  keys: readonly string[];
  queues: readonly string[];
  options: Record<string, unknown>;
  count: number;
  /** `<tenant>/<task>` of tasks to start instead of the best. */
  given: readonly string[];
  drawn: readonly string[];
  ended: readonly string[];
}

/** A ticket as the script answers it. */
interface ClaimedText {
  /** Its text, or `<tenant>/<task>` of a given task. */
  name: string;
  /** Of its task, or why that did not start. */
  state: string;
  /** Of a task that started, else how many processes were lost under it. */
  body: string;
  hasJob: boolean;
}

interface ClaimReply {
  words: string[];
  closed: string[];
  tickets: ClaimedText[];
}

const FIELDS = 4;

/** Runs the script that starts tasks. */
export async function runClaim(ledger: Ledger, call: ClaimCall): Promise<ClaimReply> {
  const { settings, keys } = ledger;
  const { outbox, ready, jobs, turns, weights, leases, deadlines, signal, cap } = keys.shard(call.shard);
  const options = {
    channel: signal,
    maxEvents: `${settings.events.maxPerTenant}`,
    maxTimelineBytes: settings.tasks.maxTimelineBytes,
    names: keys.tenantNames(call.shard),
    bounded: boundedLanes(ledger),
    cap: { ...capOfShard(ledger), ...(keys.shards > 1 ? { fleetMax: fleetCap(ledger).max, key: cap } : {}) },
    apart: {},
    ...call.options,
  };
  const reply = await ledger.run(
    'claim-tasks',
    [outbox, ready, jobs, turns, weights, leases, deadlines, ...call.keys],
    [
      JSON.stringify(options),
      call.queues.join(','),
      call.count,
      call.worker,
      settings.worker.leaseMs,
      call.given.join(','),
      call.drawn.join(','),
      ...call.ended,
    ],
  );
  const [words, closed, tickets] = reply as [string, string, string[]];
  return {
    words: words === '' ? [] : words.split(','),
    closed: closed === '' ? [] : closed.split(','),
    tickets: Array.from({ length: tickets.length / FIELDS }, (_, at) => {
      const [name = '', state = '', body = '', hasJob] = tickets.slice(at * FIELDS, at * FIELDS + FIELDS);
      return { name, state, body, hasJob: hasJob === '1' };
    }),
  };
}

/** Lanes of agents by tenants that got them after some of their tasks were accepted. */
function boundedLanes(ledger: Ledger): Record<string, Record<string, number>> {
  const lanes = (ledger.boundedTenants?.() ?? []).map((tenant) => [tenant, agentLanes(ledger, tenant)] as const);
  return Object.fromEntries(lanes.filter(([, own]) => Object.keys(own).length > 0));
}
