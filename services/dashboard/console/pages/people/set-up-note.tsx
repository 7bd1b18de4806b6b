import type { ReactElement } from 'react';
import { CopyButton } from '../../parts/copy.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import classes from './people.module.css';

/** What an administrator adds to the configuration so that people sign in by themselves. */
const EXAMPLE = `import { defineConfig } from 'muster/config';

export default defineConfig({
  signIn: {
    oidc: {
      issuer: 'https://login.example.com/realms/company',
      clientId: 'muster',
      label: 'Example login',
      roles: [
        { claim: 'groups', values: ['platform'], scopes: ['admin'] },
        { claim: 'groups', values: ['support'], tenant: 'acme', scopes: ['operate'] },
      ],
    },
  },
});`;

/** Stands on the page of people while no identity provider is configured. */
export function SetUpNote(): ReactElement {
  const { origin } = window.location;
  return (
    <Panel title="Everybody signs in with an API key">
      <p>
        With an OpenID Connect provider (Keycloak, Entra, Okta, Google, …) people sign in as themselves: this page then lists who signed in,
        when, and what each person may do in which tenant. The audit log names them too.
      </p>
      <ol>
        <li>
          At the provider register a web client with the redirect address <code>{origin}/sign-in/oidc/callback</code>.
        </li>
        <li>
          Put its secret into the environment variable <code>MUSTER_OIDC_CLIENT_SECRET</code>.
        </li>
        <li>
          Add this to <code>muster.config.ts</code> with your own provider and groups, and restart Muster.
        </li>
      </ol>
      <pre className={classes['example']} tabIndex={0}>
        {EXAMPLE}
      </pre>
      <CopyButton value={EXAMPLE} text="Copy the example" />
    </Panel>
  );
}
