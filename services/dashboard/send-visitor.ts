import type { RequestHandler } from 'express';
import { visitorOf } from './require-sign-in.ts';

/** `GET /console/visitor`: who is signed in, for the console. */
export function sendVisitor(): RequestHandler {
  return (request, response) => {
    const { tenant, name, scopes } = visitorOf(request);
    response.json({ tenant, name, scopes });
  };
}
