import type { InstallationFacts } from './facts/installation-facts.ts';
import type { LoadFacts } from './facts/load-facts.ts';
import type { TenantFacts } from './facts/tenant-facts.ts';
import type { Inspection } from './inspection.ts';
import { AGENT_INSPECTIONS } from './kinds/agents.ts';
import { ALERT_INSPECTIONS } from './kinds/alerts.ts';
import { CHORE_INSPECTIONS } from './kinds/chores.ts';
import { DATA_INSPECTIONS } from './kinds/data.ts';
import { LOAD_INSPECTIONS } from './kinds/load.ts';
import { CLOCK_INSPECTION, MEMBER_INSPECTIONS } from './kinds/members.ts';
import { QUEUE_INSPECTIONS } from './kinds/queues.ts';
import { REDIS_INSPECTIONS } from './kinds/redis.ts';
import { RESULT_INSPECTIONS } from './kinds/results.ts';
import { SURROUNDING_INSPECTIONS } from './kinds/surroundings.ts';
import { SEAL_INSPECTIONS } from './kinds/seals.ts';
import { UPGRADE_INSPECTION } from './kinds/upgrade.ts';
import { WAIT_INSPECTIONS } from './kinds/waits.ts';

/** Of the installation, also where no process of the fleet runs; in the order of `npx muster doctor`. */
export const INSTALLATION_INSPECTIONS: readonly Inspection<InstallationFacts>[] = [
  ...REDIS_INSPECTIONS,
  ...DATA_INSPECTIONS,
  UPGRADE_INSPECTION,
  ...SEAL_INSPECTIONS,
  ...MEMBER_INSPECTIONS,
  ...CHORE_INSPECTIONS,
  ...QUEUE_INSPECTIONS,
  ...SURROUNDING_INSPECTIONS,
  ...ALERT_INSPECTIONS,
  CLOCK_INSPECTION,
];

/** Of a fleet that runs. */
export const FLEET_INSPECTIONS: readonly Inspection<InstallationFacts & LoadFacts>[] = [...INSTALLATION_INSPECTIONS, ...LOAD_INSPECTIONS];

/** Of a tenant. */
export const TENANT_INSPECTIONS: readonly Inspection<TenantFacts>[] = [...AGENT_INSPECTIONS, ...WAIT_INSPECTIONS, ...RESULT_INSPECTIONS];
