import { expect, it } from 'vitest';
import type { TenantLimits } from '#shared/config/settings/limits-settings.ts';
import { openBoundedTenants } from '#shared/lifecycle/bounded-tenants.ts';
import type { Tenant } from '#shared/tenants/tenant.ts';
import { limitsOf } from '../ledger/support/test-ledger.ts';

const tenantsOf = (count: number): Tenant[] =>
  Array.from({ length: count }, (_, n) => ({ id: `t-${n}`, name: `T ${n}`, disabled: false, limits: null, createdAt: 0 }));

const bounded = limitsOf({ runningByAgent: { echo: 1 } });

function boundedOf(tenants: Tenant[], limits: (id: string) => TenantLimits | null, caps: (id: string) => Record<string, number>) {
  return openBoundedTenants({ tenants: { list: () => tenants, limitsOf: limits }, agentCaps: { of: caps } })();
}

it('names every tenant whose agents have a figure, however many there are', () => {
  expect(
    boundedOf(
      tenantsOf(60),
      () => bounded,
      () => ({}),
    ),
  ).toHaveLength(60);
});

it('names a tenant whose own agent has a cap, and none without figures', () => {
  expect(
    boundedOf(
      tenantsOf(3),
      () => null,
      (id) => (id === 't-1' ? { echo: 2 } : {}),
    ),
  ).toEqual(['t-1']);
});
