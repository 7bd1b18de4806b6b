import type { ReactElement } from 'react';
import { CopyButton } from '../../parts/copy.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import classes from './alerts.module.css';

/** What an administrator adds to the configuration so that somebody is alerted. */
const EXAMPLE = `import { defineConfig } from 'muster/config';

export default defineConfig({
  alerts: [
    { name: 'ops', to: { slack: { url: 'https://hooks.slack.com/services/T0/B0/x' } } },
    { name: 'on-call', to: { webhook: { url: 'https://pager.example.com/muster' } }, severity: 'critical' },
    { name: 'acme', to: { email: { to: 'ops@acme.example' } }, tenants: ['acme'] },
    { name: 'prometheus', to: { alertmanager: { url: 'http://alertmanager:9093' } } },
  ],
});`;

/** Stands on the page of alerts while there is no rule. */
export function AlertsSetUpNote(): ReactElement {
  return (
    <Panel title="Nobody is alerted">
      <p>
        What the fleet finds is on the page Now, for whoever looks. Add the rules that you want to <code>muster.config.ts</code> and restart
        Muster: each finding is then sent once when it is found and once when it is over. E-mail goes out by <code>MUSTER_SMTP_URL</code>.
      </p>
      <pre className={classes['example']} tabIndex={0}>
        {EXAMPLE}
      </pre>
      <CopyButton value={EXAMPLE} text="Copy the example" />
    </Panel>
  );
}
