import { Button, Menu } from '@mantine/core';
import type { ReactElement } from 'react';
import { usePerson } from '../api/person.ts';
import classes from './shell.module.css';

/** The person who is signed in, the tenants to act in where there are several, and the button to sign out. */
export function PersonMenu(): ReactElement {
  const { data } = usePerson();
  return (
    <form className={classes['person']} method="post" action="/sign-out">
      {data === undefined ? null : (
        <>
          <span className={classes['who']} title={`${data.tenant} · ${data.scopes.join(', ')}`}>
            {data.name}
          </span>
          {data.tenants.length > 1 ? <TenantMenu tenant={data.tenant} tenants={data.tenants} /> : null}
        </>
      )}
      <Button type="submit" variant="default" size="xs">
        Sign out
      </Button>
    </form>
  );
}

/** Chooses the tenant that a person of an identity provider acts in. */
function TenantMenu({ tenant, tenants }: { tenant: string; tenants: readonly string[] }): ReactElement {
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="subtle" color="gray" size="xs" aria-label={`Tenant: ${tenant}`}>
          {tenant}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {tenants.map((each) => (
          <Menu.Item key={each} onClick={() => void actIn(each)} aria-current={each === tenant ? 'true' : undefined}>
            {each}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

/** Everything shown is of the tenant before, so the console starts again. */
async function actIn(tenant: string): Promise<void> {
  await fetch('/console/tenant', { method: 'POST', body: new URLSearchParams({ tenant }), redirect: 'manual' });
  window.location.assign('/');
}
