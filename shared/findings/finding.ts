/** `critical`: work stands still or is lost; `warning`: it soon may, or a promise is weaker. The worst first. */
export const SEVERITIES = ['critical', 'warning'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** What can be found. Each is found by one inspection of the installation, of a tenant, or of both. */
export const FINDING_CODES = [
  'redis.refused',
  'redis.version',
  'redis.scripts',
  'redis.appendonly',
  'redis.appendfsync',
  'redis.maxmemory-policy',
  'redis.disk',
  'redis.memory',
  'data.foreign',
  'data.mixed',
  'data.unreadable',
  'process.stopped',
  'worker.dead',
  'worker.clock',
  'process.clock',
  'chore.failing',
  'chore.late',
  'configuration.mixed',
  'seal.mixed',
  'seal.lost',
  'zone-data.mixed',
  'zone-data.old',
  'queue.unserved',
  'queue.paused',
  'hub.missing',
  'daemon.missing',
  'alert.failing',
  'ends.unfollowed',
  'delivery.untaken',
  'chat.refused',
  'files.apart',
  'model.parameters',
  'provider.blocked',
  'pressure.warning',
  'pressure.critical',
  'tenant.pressed',
  'agent.failing',
  'agent.held',
  'agent.paused',
  'input.held',
  'task.held',
  'task.waiting',
  'delivery.failed',
  'endpoint.disabled',
  'schedule.paused',
  'budget.soft',
  'budget.hard',
] as const;
export type FindingCode = (typeof FINDING_CODES)[number];

/** Something that a person should know of, until it is resolved or somebody acknowledges it. */
export interface Finding {
  /** Stable while it lasts: its code, with gate and subject where it has them. */
  id: string;
  code: FindingCode;
  severity: Severity;
  /** One sentence for people, with the figures. */
  text: string;
  /** What helps, for people. */
  helps: string;
  /** How many there are of it, at least. */
  count: number;
  /** Since when, ms since the epoch; null for since it was found. */
  since: number | null;
  /** The console's page about it. */
  link: string;
  /** The id or name of the one thing that it is about. */
  subject: string | null;
  /** What tasks wait at, as in `why`, where it is about waiting tasks. */
  gate: string | null;
}

type Draft = Pick<Finding, 'code' | 'severity' | 'text' | 'helps' | 'link'> &
  Partial<Pick<Finding, 'count' | 'since' | 'subject' | 'gate'>> & {
    /** What tells it from others of its code, where its subject does not. */
    key?: string;
  };

export function findingOf({ key, ...draft }: Draft): Finding {
  const { code, subject = null, gate = null } = draft;
  const parts = [code, ...(gate === null ? [] : [gate]), ...(key === undefined ? (subject === null ? [] : [subject]) : [key])];
  return { count: 1, since: null, ...draft, subject, gate, id: parts.join(':') };
}

/** The worst first. */
export function bySeverity(one: Pick<Finding, 'severity'>, other: Pick<Finding, 'severity'>): number {
  return SEVERITIES.indexOf(one.severity) - SEVERITIES.indexOf(other.severity);
}
