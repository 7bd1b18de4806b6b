import { fileURLToPath } from 'node:url';
import { type Keys, loadScripts, type RedisClient, runScript, type Script, scriptJson } from '../../redis/index.ts';
import { tenantStateInLua } from '../../tenants/index.ts';
import { foldablePart } from '../../text/index.ts';
import type { Schedule, ScheduleStatus } from './schedule.ts';

interface Ports {
  readonly redis: RedisClient;
  readonly keys: Keys;
}

export interface ScheduleSearch {
  status?: ScheduleStatus | undefined;
  agent?: string | undefined;
  /** Text that the number, id, name, message, rule or agent holds, in any case. */
  q?: string | undefined;
}

/** Some schedules of a tenant, newest first. */
export interface Checked {
  /** Those that may fit. */
  ids: string[];
  /** How many were checked for them, and the number of the last; null where there are no others. */
  checked: number;
  last: number | null;
}

/** Bytes after which a call stops: a message may have 64 KB, and Redis answers no one else meanwhile. */
const MAX_BYTES = 2_000_000;

const SCRIPTS = loadScripts(fileURLToPath(new URL('scripts', import.meta.url)), { 'tenant-state': tenantStateInLua() });

/** What the record of a schedule that fits holds, as it is stored. */
export function partsOf({ status, agent, q = '' }: ScheduleSearch): string[] {
  const fields = [...(status === undefined ? [] : [['status', status]]), ...(agent === undefined ? [] : [['agent', agent]])];
  const parts = fields.map(([name, value]) => `"${name}":${JSON.stringify(value)}`.toLowerCase());
  // A number is stored without the mark by which people know it.
  return [...parts, foldablePart(q.replace(/^#(?=\d+$)/, ''))].filter((part) => part !== '');
}

/** Checks up to `max` schedules with numbers below `before`. One call. */
export async function matchSchedules(
  { redis, keys }: Ports,
  tenant: string,
  parts: readonly string[],
  { before, max }: { before: number | null; max: number },
): Promise<Checked> {
  const { scheduleNumbers, schedules } = keys.tenant(tenant);
  const from = before === null ? '+inf' : `(${before}`;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const script = SCRIPTS.get('match-schedules') as Script;
  const reply = await runScript(redis, script, [scheduleNumbers, schedules], [from, max, MAX_BYTES, scriptJson(parts)]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const [checked, last, ...ids] = reply as [number, string, ...string[]];
  return { ids, checked, last: last === '' ? null : Number(last) };
}

/** Whether a schedule is what is searched for. */
export function isFound(schedule: Schedule, { status, agent, q }: ScheduleSearch): boolean {
  if ((status ?? schedule.status) !== schedule.status || (agent ?? schedule.agent) !== schedule.agent) return false;
  if (q === undefined) return true;
  const { number, id, name, message, sentence, ruleText } = schedule;
  return [`#${number}`, id, name, message, sentence, ruleText, schedule.agent].join('\n').toLowerCase().includes(q.toLowerCase());
}
