import { MusterError } from '#shared/errors/index.ts';
import type { Call } from '#shared/http/index.ts';
import { DEFAULT_TENANT } from '#shared/tenants/index.ts';

/** Description of a route that calls `assertFleetOwner`. */
export const FLEET_OWNERS = 'For keys of the tenant `default`.';

/** Whether a call comes from the installation's own tenant. */
export function isFleetOwner({ tenant }: Call): boolean {
  return tenant === DEFAULT_TENANT;
}

/** Queues and tenants belong to the entire fleet, so only keys of the installation's own tenant reach them. Errors: `auth.forbidden`. */
export function assertFleetOwner(call: Call): void {
  if (isFleetOwner(call)) return;
  throw new MusterError('auth.forbidden', `This concerns the whole fleet and needs a key of the tenant "${DEFAULT_TENANT}"`);
}
