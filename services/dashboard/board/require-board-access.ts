import type { RequestHandler } from 'express';
import { MusterError } from '#shared/errors/muster-error.ts';
import { hasScope } from '#shared/tenants/scopes.ts';
import { DEFAULT_TENANT } from '#shared/tenants/tenant.ts';
import { personOf } from '../require-sign-in.ts';

/**
 * The queues carry the tickets of every tenant, so only keys of tenant `default`, which belongs to those who run the
 * installation, may see them; changing something takes the scope `operate`. Errors: `auth.forbidden`.
 */
export function requireBoardAccess(): RequestHandler {
  return (request, _response, next) => {
    const { tenant, scopes } = personOf(request);
    if (tenant !== DEFAULT_TENANT) {
      throw new MusterError(
        'auth.forbidden',
        `The board shows the tickets of all tenants. It takes a key of tenant "${DEFAULT_TENANT}"; yours is of "${tenant}".`,
      );
    }
    if (request.method !== 'GET' && request.method !== 'HEAD' && !hasScope(scopes, 'operate')) {
      throw new MusterError('auth.forbidden', 'Your key may look only. Changing something takes one with the scope "operate".');
    }
    next();
  };
}
