import type { RequestHandler } from 'express';
import { z } from 'zod';
import { MusterError } from '#shared/errors/index.ts';
import type { SignIns } from '#shared/http/index.ts';
import { type ApiKey, publicTenantId, type TenantDirectory } from '#shared/tenants/index.ts';
import { html, type Html, sendPage } from '../pages/page.ts';
import { isApiCall, personOf } from './require-sign-in.ts';

/**
 * Refuses who is signed in while the tenant is disabled, after `requireSignIn`. A person with a role elsewhere is shown the way there, and is
 * not taken there: what was meant for one tenant must not happen in another. Errors: `tenant.disabled`.
 */
export function requireOpenTenant(tenants: TenantDirectory): RequestHandler {
  return (request, response, next) => {
    const key = personOf(request);
    if (!isDisabled(tenants, key.tenant)) {
      next();
      return;
    }
    const others = (key.person?.roles ?? []).map(({ tenant }) => tenant).filter((tenant) => !isDisabled(tenants, tenant));
    if (others.length === 0 || request.method !== 'GET' || isApiCall(request)) throw disabledTenant(key.tenant);
    sendPage(response, { title: 'Tenant disabled', person: null, content: changePage(key, others) }, 403);
  };
}

/**
 * `POST /console/tenant`: a person of a provider acts in another of the person's tenants from now on, also while the one before is disabled.
 * Errors: `auth.forbidden`, `tenant.disabled`.
 */
export function changeTenant(signIns: SignIns, tenants: TenantDirectory): RequestHandler {
  return async (request, response) => {
    const { tenant: named } = z.object({ tenant: z.string().max(100) }).parse(request.body ?? {});
    const role = personOf(request).person?.roles.find(({ tenant }) => publicTenantId(tenant) === named);
    if (role === undefined) throw new MusterError('auth.forbidden', 'You have no role in that tenant');
    if (isDisabled(tenants, role.tenant)) throw disabledTenant(role.tenant);
    await signIns.changeTenant(request, role.tenant);
    response.redirect(303, '/');
  };
}

function isDisabled(tenants: TenantDirectory, tenant: string): boolean {
  return tenants.get(tenant)?.disabled === true;
}

function disabledTenant(tenant: string): MusterError {
  return new MusterError('tenant.disabled', `The tenant ${publicTenantId(tenant)} is disabled`);
}

function changePage({ name, tenant }: ApiKey, others: readonly string[]): Html {
  const buttons = others.map((each) => html`<button name="tenant" value="${publicTenantId(each)}">Act in ${publicTenantId(each)}</button>`);
  return html`<section class="card narrow">
    <h1>The tenant ${publicTenantId(tenant)} is disabled</h1>
    <p>You are signed in as ${name}, and have a role elsewhere.</p>
    <form method="post" action="/console/tenant">${buttons}</form>
    <form method="post" action="/sign-out"><button class="quiet">Sign out</button></form>
  </section>`;
}
