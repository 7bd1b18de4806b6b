import { readRefusals } from '#shared/deliveries/index.ts';
import { mixedConfigurations, mixedZoneData, oldZoneData } from '#shared/doctor/index.ts';
import { listProcesses, listWorkers, readFleetPressure } from '#shared/queue/index.ts';
import { toIso } from '#shared/time/index.ts';
import type { AttentionPorts, Item } from './attention-item.ts';

/** What operators should look at: queues, workers and the load. */
export function attentionOfFleet(ports: AttentionPorts): Promise<Item[]>[] {
  const findings = [findUnserved, findPaused, findDead, findDisagreement, findRefusedPlatforms, findPressure];
  return findings.map((find) => find(ports));
}

async function findUnserved({ ledger: { redis, keys } }: AttentionPorts): Promise<Item[]> {
  const noted = await redis.hgetall(keys.fleet.unservedQueues);
  // A second field of a queue says when operators were notified.
  const queues = Object.entries(noted).filter(([field]) => !field.includes(' '));
  return queues.map(([queue, since]) => ({
    code: 'queue.unserved',
    level: 'critical',
    text: `Tasks wait in the queue "${queue}", and no worker serves it.`,
    count: 1,
    since: toIso(Number(since)),
    link: '/queues',
    subject: queue,
  }));
}

async function findPaused({ queues }: AttentionPorts): Promise<Item[]> {
  const first = queues.all().filter(({ shard }) => shard === 0);
  const paused = await Promise.all(first.map(async ({ name, queue }) => ((await queue.isPaused()) ? [name] : [])));
  return paused.flat().map((name) => ({
    code: 'queue.paused',
    level: 'warning',
    text: `The queue "${name}" is paused and starts nothing.`,
    count: 1,
    since: null,
    link: '/queues',
    subject: name,
  }));
}

async function findDead({ ledger }: AttentionPorts): Promise<Item[]> {
  const dead = (await listWorkers(ledger)).filter(({ status }) => status === 'dead');
  return dead.map(({ id, lastBeatAt }) => ({
    code: 'worker.dead',
    level: 'warning',
    text: `The worker ${id} stopped without saying so; its tasks went to others.`,
    count: 1,
    since: toIso(lastBeatAt),
    link: '/fleet',
    subject: id,
  }));
}

/** Processes that live together and disagree: for a while while a release goes out, else by mistake. */
async function findDisagreement({ ledger }: AttentionPorts): Promise<Item[]> {
  const processes = await listProcesses(ledger);
  const found = [
    { code: 'configuration.mixed', text: mixedConfigurations(processes) },
    { code: 'zone-data.mixed', text: mixedZoneData(processes) },
    { code: 'zone-data.old', text: oldZoneData(processes) },
  ] as const;
  return found.flatMap(({ code, text }) =>
    text === null ? [] : [{ code, level: 'warning', text: `${text}.`, count: 1, since: null, link: '/fleet', subject: null } as const],
  );
}

async function findRefusedPlatforms({ ledger }: AttentionPorts): Promise<Item[]> {
  return (await readRefusals(ledger)).map(({ platform, reason, since }) => ({
    code: 'chat.refused',
    level: 'critical',
    text: `${reason}. What people write there is not answered.`,
    count: 1,
    since: toIso(since),
    link: '/fleet',
    subject: platform,
  }));
}

async function findPressure({ ledger }: AttentionPorts): Promise<Item[]> {
  const { level, depth } = await readFleetPressure(ledger);
  if (level === 'none') return [];
  const text = `The fleet has ${depth} open tasks, which is more than it should have.`;
  return [{ code: `pressure.${level}`, level, text, count: 1, since: null, link: '/', subject: null }];
}
