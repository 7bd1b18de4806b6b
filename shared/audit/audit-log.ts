import type { Settings } from '../config/index.ts';
import type { Log } from '../log/index.ts';
import { isEntryId, type Keys, type RedisClient } from '../redis/index.ts';
import { writeOfTenant } from '../tenants/index.ts';
import { describeAction } from './action-names.ts';
import { type AuditActor, type AuditEntry, auditEntrySchema, boundEntry } from './audit-entry.ts';

export interface AuditPorts {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly settings: Pick<Settings, 'audit'>;
  readonly log: Log;
}

/** Writes an entry of a tenant. Never rejects: the change is made, and the log of the process has what could not be written. */
export async function recordAudit({ redis, keys, settings, log }: AuditPorts, tenant: string, given: AuditEntry): Promise<void> {
  const { maxPerTenant, retentionMs } = settings.audit;
  const entry = boundEntry(given);
  const key = keys.tenant(tenant).audit;
  try {
    const command = ['XADD', 'MAXLEN', '~', maxPerTenant, '*', 'entry', JSON.stringify(entry)] as const;
    await writeOfTenant({ redis, keys }, { tenant, key, command, keepMs: retentionMs });
    await redis.xtrim(key, 'MINID', '~', Date.now() - retentionMs);
  } catch (error) {
    log.warn({ event: 'audit.lost', tenant, entry, err: error }, 'An entry of the audit log could not be written');
  }
}

export interface AuditFilter {
  /** Id or part of the name of who acted. */
  who?: string | undefined;
  action?: string | undefined;
  /** What the object begins with. */
  object?: string | undefined;
  outcome?: string | undefined;
  /** Part of the entry. */
  q?: string | undefined;
  /** Milliseconds since the epoch; from then on, and before then. */
  since?: number | undefined;
  until?: number | undefined;
  /** Id of an entry: only older ones. */
  before?: string | undefined;
}

export interface StoredAuditEntry extends AuditEntry {
  id: string;
  /** Milliseconds since the epoch. */
  at: number;
}

/** The entries of a page that was read, and the last id that was looked at. */
interface AuditPage {
  entries: StoredAuditEntry[];
  lastId: string;
}

/** Entries read at once. */
const PAGE = 500;

/** The entries of a tenant that fit, newest first, in pages of those that were read together; pages may be empty. */
export async function* iterateAudit({ redis, keys, settings }: AuditPorts, tenant: string, filter: AuditFilter): AsyncGenerator<AuditPage> {
  const { maxPerTenant, retentionMs } = settings.audit;
  const oldest = String(Math.max(filter.since ?? 0, Date.now() - retentionMs));
  let from = newestOf(filter);
  for (let read = 0; read < maxPerTenant; read += PAGE) {
    const found = await redis.xrevrange(keys.tenant(tenant).audit, from, oldest, 'COUNT', Math.min(PAGE, maxPerTenant - read));
    const lastId = found.at(-1)?.[0];
    if (lastId === undefined) return;
    const entries = found.flatMap(([id, fields]) => readEntry(id, fields)).filter((entry) => fits(entry, filter));
    yield { entries, lastId };
    from = `(${lastId}`;
  }
}

export function isAuditId(text: string): boolean {
  return isEntryId(text);
}

function newestOf({ until, before }: AuditFilter): string {
  if (before !== undefined) return `(${before}`;
  return until === undefined ? '+' : `(${until}-0`;
}

/** An entry that another version wrote may be unreadable; it is left out. */
function readEntry(id: string, fields: readonly string[]): StoredAuditEntry[] {
  try {
    return [{ id, at: Number(id.split('-')[0]), ...auditEntrySchema.parse(JSON.parse(fields[1] ?? '')) }];
  } catch {
    return [];
  }
}

function fits(entry: StoredAuditEntry, { who, action, object, outcome, q, until }: AuditFilter): boolean {
  return (
    isBefore(entry.at, until) &&
    isBy(entry.actor, who) &&
    isOne(entry.action, action) &&
    isOne(entry.outcome, outcome) &&
    (object === undefined || entry.object?.startsWith(object) === true) &&
    (q === undefined || textsOf(entry).some((each) => contains(each, q)))
  );
}

function isBy({ id, name }: AuditActor, who: string | undefined): boolean {
  return who === undefined || id === who || contains(name, who);
}

function isOne(value: string, wanted: string | undefined): boolean {
  return wanted === undefined || value === wanted;
}

function isBefore(at: number, until: number | undefined): boolean {
  return until === undefined || at < until;
}

function textsOf({ actor, action, object, from, code, fields }: AuditEntry): (string | null)[] {
  return [actor.id, actor.name, action, describeAction(action), object, from, code, ...fields];
}

function contains(text: string | null, part: string): boolean {
  return text?.toLowerCase().includes(part.toLowerCase()) === true;
}
