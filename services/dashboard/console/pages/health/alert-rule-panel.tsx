import type { ReactElement } from 'react';
import type { AlertRule, FiringAlert } from '#shared/client/openapi.gen.ts';
import { Facts } from '../../parts/layout/facts.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { WarningNote } from '../../parts/notes/warning-note.tsx';
import { countText } from '../../parts/numbers.tsx';
import { ToneBadge } from '../../parts/status-badge.tsx';
import { Sentence } from '../../parts/text/sentence.tsx';
import { Age } from '../../parts/time.tsx';
import { AlertTest } from './alert-test.tsx';
import classes from './alerts.module.css';

/** A rule of `alerts`: what it sends where, whether that arrives, and what is open. */
export function AlertRulePanel({ rule }: { rule: AlertRule }): ReactElement {
  const { name, failure, firing, firingSentAt, resolvedSentAt } = rule;
  return (
    <Panel title={name} actions={<ReceiverState rule={rule} />}>
      {failure === null ? null : (
        <WarningNote title={`Its receiver took none of the last ${failure.times === 1 ? 'try' : `${countText(failure.times)} tries`}`}>
          The last try was <Age at={failure.at} of="last try" />: {failure.why}. There is another within five minutes, and what was found
          meanwhile is sent then.
        </WarningNote>
      )}
      <Facts
        items={[
          { label: 'Sends', value: wantedText(rule) },
          { label: 'To', value: RECEIVERS[rule.to] },
          { label: 'Last sent', value: <LastSent firingSentAt={firingSentAt} resolvedSentAt={resolvedSentAt} /> },
        ]}
      />
      <h3 className={classes['heading']}>{headingOf(rule)}</h3>
      {firing.length === 0 ? null : (
        <ul className={classes['alerts']} aria-label={`Open alerts of ${name}`}>
          {firing.map((alert) => (
            <OpenAlert key={alert.id} alert={alert} failure={failure} />
          ))}
        </ul>
      )}
      <AlertTest rule={name} />
    </Panel>
  );
}

function headingOf({ firing }: AlertRule): string {
  const unsent = firing.filter(({ isSent }) => !isSent).length;
  if (firing.length === 0) return 'Nothing is open';
  return `Open: ${countText(firing.length)}${unsent === 0 ? '' : `, not sent: ${countText(unsent)}`}`;
}

function ReceiverState({ rule: { failure, firingSentAt, resolvedSentAt } }: { rule: AlertRule }): ReactElement {
  if (failure !== null) return <ToneBadge tone="bad">fails</ToneBadge>;
  const hasSent = firingSentAt !== null || resolvedSentAt !== null;
  return hasSent ? <ToneBadge tone="good">arrives</ToneBadge> : <ToneBadge tone="idle">nothing sent yet</ToneBadge>;
}

const RECEIVERS: Readonly<Record<AlertRule['to'], string>> = {
  slack: 'Slack',
  webhook: 'a webhook',
  email: 'e-mail',
  alertmanager: 'Alertmanager',
};

const LEAST: Readonly<Record<AlertRule['severity'], string>> = {
  info: 'All findings',
  warning: 'Warnings and critical findings',
  critical: 'Critical findings only',
};

function wantedText({ severity, tenants }: AlertRule): string {
  const whose = tenants === null ? 'of the installation and of all tenants' : `of ${tenants.join(', ')} only`;
  return `${LEAST[severity]}, of every kind, ${whose}`;
}

function LastSent({ firingSentAt, resolvedSentAt }: Pick<AlertRule, 'firingSentAt' | 'resolvedSentAt'>): ReactElement {
  if (firingSentAt === null && resolvedSentAt === null) return <>never</>;
  return (
    <>
      {firingSentAt === null ? 'nothing that was found' : <Age at={firingSentAt} of="sent as firing" />}
      {firingSentAt === null ? '' : ' as firing'}
      {resolvedSentAt === null ? ', nothing as resolved' : ', '}
      {resolvedSentAt === null ? null : <Age at={resolvedSentAt} of="sent as resolved" />}
      {resolvedSentAt === null ? '' : ' as resolved'}
    </>
  );
}

const STATES: Readonly<Record<FiringAlert['finding'], string | null>> = {
  open: null,
  acknowledged: 'Somebody acknowledged it.',
  resolved: 'It is over, which the receiver has not taken yet.',
};

interface OpenAlertProps extends Pick<AlertRule, 'failure'> {
  alert: FiringAlert;
}

function OpenAlert({ alert: { severity, summary, helps, tenant, since, finding, isSent }, failure }: OpenAlertProps): ReactElement {
  return (
    <li>
      <ToneBadge tone={severity === 'critical' ? 'bad' : 'warn'}>{severity}</ToneBadge>
      <div className={classes['text']}>
        <Sentence text={summary} />
        <p className="faint">
          <Sentence text={helps} />
        </p>
        {isSent ? null : <p data-tone="warn">{failure === null ? 'Not sent yet.' : `Not sent: ${failure.why}.`}</p>}
        {STATES[finding] === null ? null : <p>{STATES[finding]}</p>}
      </div>
      <span className="faint">{tenant ?? 'installation'}</span>
      <span className="faint">
        <Age at={since} of="since" />
      </span>
    </li>
  );
}
