import { MusterError } from '#shared/errors/index.ts';
import type { Call } from '#shared/http/index.ts';
import { DEFAULT_TENANT } from '#shared/tenants/index.ts';

/** Description of a route that calls `assertFleetOwner`. */
export const FLEET_OWNERS = 'For keys of the tenant `default`.';

/** Queues and tenants belong to the entire fleet, so only keys of the installation's own tenant reach them. Errors: `auth.forbidden`. */
export function assertFleetOwner({ tenant }: Call): void {
  if (tenant === DEFAULT_TENANT) return;
  throw new MusterError('auth.forbidden', `This concerns the whole fleet and needs a key of the tenant "${DEFAULT_TENANT}"`);
}
