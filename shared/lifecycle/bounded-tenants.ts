import type { AgentCaps } from '../agents/index.ts';
import type { TenantDirectory } from '../tenants/index.ts';

interface BoundedTenantsPorts {
  tenants: Pick<TenantDirectory, 'list' | 'limitsOf'>;
  agentCaps: Pick<AgentCaps, 'of'>;
}

/** As old as what it is read from. */
const KEEP_MS = 1000;

/** Tenants whose agents have bounds by tenant: a task that was accepted before such a bound may lack its lane, and gets it when a slot takes it. */
export function openBoundedTenants({ tenants, agentCaps }: BoundedTenantsPorts): () => readonly string[] {
  let known: readonly string[] = [];
  let readAt = -Infinity;
  return () => {
    if (performance.now() - readAt < KEEP_MS) return known;
    readAt = performance.now();
    const isBounded = (id: string): boolean =>
      Object.keys(agentCaps.of(id)).length > 0 || Object.keys(tenants.limitsOf(id)?.runningByAgent ?? {}).length > 0;
    known = tenants.list().flatMap(({ id }) => (isBounded(id) ? [id] : []));
    return known;
  };
}
