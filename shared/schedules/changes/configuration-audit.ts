import { DEFAULT_TENANT } from '../../tenants/index.ts';
import { type AuditActor, type AuditEntry, recordAudit } from '../../audit/index.ts';
import type { ScheduleParts } from '../schedule-parts.ts';

/** The audit log's entries of a configuration: what it replaced, and the schedules that it made, changed, paused or resumed. */
export interface ConfigurationAudit {
  /** Of the tenant `default`, which the installation belongs to. */
  recordReplaced(replaced: string): Promise<void>;
  recordSchedule(action: string, schedule: { tenant: string; id: string }): Promise<void>;
}

export function configurationAudit(parts: ScheduleParts, configuration: string): ConfigurationAudit {
  const actor: AuditActor = { kind: 'configuration', id: configuration, name: configuration };
  const entry: Omit<AuditEntry, 'action' | 'from' | 'object'> = { actor, via: 'configuration', fields: [], outcome: 'done', code: null };
  return {
    recordReplaced: (replaced) =>
      recordAudit(parts, DEFAULT_TENANT, {
        ...entry,
        action: 'replaceConfiguration',
        from: replaced,
        object: `configurations/${configuration}`,
      }),
    recordSchedule: (action, { tenant, id }) => recordAudit(parts, tenant, { ...entry, action, from: null, object: `schedules/${id}` }),
  };
}
