import { MusterError } from '#shared/errors/muster-error.ts';
import type { Call } from '#shared/http/route.ts';
import { DEFAULT_TENANT } from '#shared/tenants/tenant.ts';

/**
 * Queues and tenants are the whole fleet's: only keys of the installation's own tenant reach them, so that an operator of
 * another tenant cannot stop everybody's work. Errors: `auth.forbidden`.
 */
export function assertFleetOwner({ tenant }: Call): void {
  if (tenant === DEFAULT_TENANT) return;
  throw new MusterError('auth.forbidden', `This concerns the whole fleet and needs a key of the tenant "${DEFAULT_TENANT}"`);
}
