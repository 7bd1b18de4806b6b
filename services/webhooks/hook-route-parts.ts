import type { Clock } from '#shared/time/index.ts';
import type { HookStore } from './hook-store.ts';
import type { TemplateBounds } from './templates/parse-template.ts';

/** What the endpoints of `/v1/hooks` work on. */
export interface HookRouteParts {
  readonly store: HookStore;
  readonly clock: Clock;
  readonly templates: TemplateBounds;
  /** Throws `limit.storage` when the tenant has stored all that it may. */
  assertRoom(tenant: string): void;
  /** Whether the tenant's catalog has this agent. */
  hasAgent(tenant: string, agent: string): Promise<boolean>;
}
