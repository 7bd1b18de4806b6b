import { publicTenantId } from '#shared/tenants/index.ts';
import type { RequestHandler } from 'express';
import { personOf } from './require-sign-in.ts';

/** `GET /console/person`: who is signed in, for the console. */
export function sendPerson(): RequestHandler {
  return (request, response) => {
    const { tenant, name, scopes } = personOf(request);
    response.json({ tenant: publicTenantId(tenant), name, scopes });
  };
}
