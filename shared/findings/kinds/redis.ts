import { describeRefusal, fullestOf, OLDEST_REDIS, type Refusal } from '../../redis/index.ts';
import { findingOf, type FindingCode } from '../finding.ts';
import type { InstallationFacts } from '../facts/installation-facts.ts';
import type { Inspection, Verdict } from '../inspection.ts';

const LINK = '/health';
const RECOMMENDED = 7;
const MIB = 1_048_576;

/** What the fleet's promises need of its Redis. */
export const REDIS_INSPECTIONS: readonly Inspection<InstallationFacts>[] = [
  { name: 'Redis writes', codes: ['redis.refused'], look: async (facts) => judgeWrites(await facts.refusal()) },
  { name: 'Redis version', codes: ['redis.version'], look: async (facts) => judgeVersion(await facts.redisVersion()) },
  { name: 'Redis scripts', codes: ['redis.scripts'], look: async (facts) => judgeScripts(await facts.scriptsProblem()) },
  {
    name: 'Redis appendonly',
    codes: ['redis.appendonly'],
    look: async (facts) => judgeAppendOnly(await facts.redisSetting('appendonly')),
  },
  {
    name: 'Redis appendfsync',
    codes: ['redis.appendfsync'],
    look: async (facts) => judgeFsync(await facts.redisSetting('appendfsync')),
  },
  {
    name: 'Redis maxmemory-policy',
    codes: ['redis.maxmemory-policy'],
    look: async (facts) => judgePolicy(await facts.evictionPolicy()),
  },
  {
    name: 'Redis memory',
    codes: ['redis.memory'],
    look: async (facts) => judgeMemory(await facts.memory(), facts.memoryThresholds),
  },
  { name: 'Redis disk', codes: ['redis.disk'], look: async (facts) => judgeDisk(await facts.persistence()) },
];

function judgeWrites(refusal: Refusal | null): Verdict {
  if (refusal === null) return { findings: [], note: 'are taken' };
  const text = `Redis refuses writes: ${describeRefusal(refusal)}.`;
  const helps = 'Repair that at Redis; the fleet goes on by itself.';
  return { findings: [findingOf({ code: 'redis.refused', severity: 'critical', text, helps, link: LINK })] };
}

function judgeVersion(version: string): Verdict {
  const number = Number.parseFloat(version);
  if (number >= RECOMMENDED) return { findings: [], note: version };
  const isOld = number < OLDEST_REDIS;
  return one('redis.version', isOld, {
    text: isOld
      ? `Redis ${version} is too old: ${OLDEST_REDIS} is needed, ${RECOMMENDED} recommended.`
      : `Redis ${version} works, ${RECOMMENDED} is recommended.`,
    helps: `Update Redis to ${RECOMMENDED} or newer.`,
  });
}

function judgeScripts(problem: string | null): Verdict {
  if (problem === null) return { findings: [], note: 'run' };
  return one('redis.scripts', true, { text: problem, helps: 'No process starts on it.' });
}

function judgeAppendOnly(value: string): Verdict {
  if (value === 'yes') return { findings: [], note: 'yes' };
  return one('redis.appendonly', true, {
    text: `Redis has appendonly ${value}: one that ends loses all accepted work since its last snapshot.`,
    helps: 'CONFIG SET appendonly yes.',
  });
}

const EVERYSEC =
  'everysec: when the power fails, or Redis is killed while its disk is slow, up to two seconds of accepted work are lost; always closes that gap';

function judgeFsync(value: string): Verdict {
  if (value === 'always') return { findings: [], note: 'always: nothing accepted is lost, also when the power fails' };
  if (value === 'everysec') return { findings: [], note: EVERYSEC };
  return one('redis.appendfsync', false, {
    text: `Redis has appendfsync ${value}: when the power fails, up to half a minute is lost.`,
    helps: 'CONFIG SET appendfsync everysec.',
  });
}

function judgePolicy(value: string | null): Verdict {
  if (value === null) throw new Error('Redis does not tell it, as with managed services: look in their console whether it is noeviction');
  if (value === 'noeviction') return { findings: [], note: value };
  return one('redis.maxmemory-policy', true, {
    text: `Redis has maxmemory-policy ${value}: a full one throws work away.`,
    helps: 'CONFIG SET maxmemory-policy noeviction.',
  });
}

function judgeMemory(nodes: Awaited<ReturnType<InstallationFacts['memory']>>, thresholds: InstallationFacts['memoryThresholds']): Verdict {
  const fullest = fullestOf(nodes);
  if (fullest === null) return { findings: [], note: 'has no bound: with a maxmemory new work is refused before Redis is full' };
  const { used, max, share } = fullest;
  const note = `${Math.round(used / MIB)} of ${Math.round(max / MIB)} MiB (${Math.round(share * 100)} %)`;
  if (share < (thresholds.warning ?? Number.POSITIVE_INFINITY)) return { findings: [], note };
  const isCritical = thresholds.critical !== null && share >= thresholds.critical;
  const then = isCritical ? 'New work is refused until there is room.' : 'Producers are asked to slow down.';
  return one('redis.memory', isCritical, {
    text: `Redis uses ${note} of its maxmemory. ${then}`,
    helps:
      'Raise its maxmemory, keep ended tasks for a shorter time (tasks.retentionMs), or see which tenant has most at GET /v1/tenants/:id.',
  });
}

/**
 * Judges by `INFO persistence` whether the disk keeps up with the append-only file. With `everysec` Redis counts answers before a write that
 * waited two seconds for an fsync. No note without such a file.
 */
export function judgeDisk(info: string): Verdict {
  const delayed = /^aof_delayed_fsync:(\d+)/m.exec(info)?.[1];
  if (delayed === undefined) return { findings: [] };
  if (/^aof_last_write_status:err/m.test(info)) {
    const text = 'The last write of the append-only file of Redis failed.';
    return one('redis.disk', true, { text, helps: 'Check the free space and the disk.' });
  }
  if (delayed === '0') return { findings: [], note: 'keeps up with what Redis writes' };
  return one('redis.disk', false, {
    text: `The disk of Redis was too slow ${delayed} times since it started, when a kill loses accepted work.`,
    helps: 'Use a faster one, or CONFIG SET appendfsync always.',
  });
}

function one(code: FindingCode, isCritical: boolean, words: { text: string; helps: string }): Verdict {
  return { findings: [findingOf({ code, severity: isCritical ? 'critical' : 'warning', ...words, link: LINK })] };
}
