import pMap from 'p-map';
import { readList, readReceivers } from '#shared/findings/index.ts';
import type { Ledger } from '#shared/ledger/index.ts';
import type { LoadPorts } from '#shared/queue/index.ts';
import { readMemory } from '#shared/redis/index.ts';
import { type GaugeOptions, memoize, type Values } from './gauge.ts';

/** Tenants whose lists are read; of more, the first by their ids. */
const MAX_TENANTS = 1000;
const FRESH_MS = 15_000;
const CONCURRENCY = 50;

/** The gauges of what is wrong: findings, receivers of alerts, the memory of Redis. */
export function healthGauges(ports: LoadPorts): GaugeOptions[] {
  return [
    {
      name: 'muster_findings',
      help: 'Findings that nobody acknowledged, of the installation and of all tenants',
      read: memoize(() => countFindings(ports), FRESH_MS),
    },
    {
      name: 'muster_alert_failures',
      help: 'Tries in a row that a receiver of alerts failed',
      read: () => readAlertFailures(ports.ledger),
    },
    {
      name: 'muster_redis_memory_bytes',
      help: 'Memory that a Redis uses, and the most that it may; no most where it has no bound',
      read: async () => (await readMemory(ports.ledger.redis)).flatMap(({ node, used, max }) => memoryValues(node, used, max)),
    },
  ];
}

function memoryValues(node: string, used: number, max: number | null): Values {
  return [[{ node, state: 'used' }, used], ...(max === null ? [] : ([[{ node, state: 'max' }, max]] satisfies Values))];
}

async function countFindings({ ledger, tenants }: LoadPorts): Promise<Values> {
  const ids = tenants.list().map(({ id }) => id);
  const owners = [null, ...ids.toSorted().slice(0, MAX_TENANTS)];
  const lists = await pMap(owners, (owner) => readList(ledger, owner), { concurrency: CONCURRENCY });
  const counts = new Map<string, Values[number]>();
  for (const { findings, acknowledged } of lists) {
    for (const { id, code, severity } of findings) {
      if (acknowledged.has(id)) continue;
      const name = `${severity} ${code}`;
      counts.set(name, [{ code, severity }, (counts.get(name)?.[1] ?? 0) + 1]);
    }
  }
  return [...counts.values()];
}

async function readAlertFailures({ redis, keys, settings }: Ledger): Promise<Values> {
  const rules = settings.alerts.map(({ name }) => name);
  const receivers = await readReceivers({ redis, keys }, rules);
  return rules.map((alert) => [{ alert }, receivers.get(alert)?.failure?.times ?? 0]);
}
