import type { Clock } from '#shared/time/clock.ts';
import type { HookStore } from './hook-store.ts';

/** What the endpoints of `/v1/hooks` work on. */
export interface HookRouteParts {
  readonly store: HookStore;
  readonly clock: Clock;
  /** Whether the tenant's catalog has this agent. */
  hasAgent(tenant: string, agent: string): Promise<boolean>;
}
