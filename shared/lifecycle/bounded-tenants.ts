import type { AgentCaps } from '../agents/index.ts';
import type { Settings } from '../config/index.ts';
import type { TenantDirectory } from '../tenants/index.ts';

interface BoundedTenantsPorts {
  settings: Settings;
  tenants: Pick<TenantDirectory, 'list' | 'limitsOf'>;
  agentCaps: Pick<AgentCaps, 'of'>;
}

/** As old as what it is read from. */
const KEEP_MS = 1000;
/** More names make each call of a free slot longer than the second call that they save. */
const MAX_NAMES = 50;

/**
 * Tenants whose agents have, or had, bounds by tenant: a task that was accepted before such a bound may lack its lane, and is claimed in a call
 * that gives it one. Null when that may be any tenant.
 */
export function openBoundedTenants({ settings, tenants, agentCaps }: BoundedTenantsPorts): () => readonly string[] | null {
  if (Object.keys(settings.limits.tenant?.runningByAgent ?? {}).length > 0) return () => null;
  let known: readonly string[] | null = null;
  let readAt = -Infinity;
  return () => {
    if (performance.now() - readAt < KEEP_MS) return known;
    readAt = performance.now();
    const isBounded = (id: string): boolean =>
      Object.keys(agentCaps.of(id)).length > 0 || Object.keys(tenants.limitsOf(id)?.runningByAgent ?? {}).length > 0;
    const names = tenants.list().flatMap(({ id }) => (isBounded(id) ? [id] : []));
    known = names.length > MAX_NAMES ? null : names;
    return known;
  };
}
