import { Button, PasswordInput } from '@mantine/core';
import { useState, type ReactElement, type ReactNode, type SubmitEvent } from 'react';
import type { Hook } from '#shared/client/openapi.gen.ts';
import { answerOf, api, byId } from '../../api/api.ts';
import { useMay } from '../../api/person.ts';
import { hookKey } from '../../api/query-keys.ts';
import { handsOverSecret } from './hook-texts.ts';
import { useAction } from '../../parts/actions/use-action.ts';
import { CopyButton } from '../../parts/copy.tsx';
import classes from './hooks.module.css';

interface SetUpProps {
  hook: Hook;
  /** Just after the hook was made; it cannot be read again. */
  secret: string | null;
}

/** What to do at the sender, step by step, with the values to paste there. */
export function SetUpSteps({ hook, secret }: SetUpProps): ReactElement {
  const address = `${window.location.origin}${hook.path}`;
  return (
    <>
      <ol className={classes['steps']}>
        {stepsOf({ hook, secret, address }).map(({ key, content }) => (
          <li key={key}>{content}</li>
        ))}
      </ol>
      {/^https?:\/\/(?:localhost|127\.|\[::1\])/.test(address) ? (
        <p className="faint">This address is reached from this machine only. Open Muster under its public address to copy that one.</p>
      ) : null}
    </>
  );
}

interface Step {
  key: string;
  content: ReactNode;
}

function stepsOf({ hook, secret, address }: SetUpProps & { address: string }): Step[] {
  const url = <Value text={address} label="Copy address" />;
  const own = handsOverSecret(hook.options) ? <>its own, which it hands over when it checks the address.</> : <OwnSecret secret={secret} />;
  switch (hook.provider) {
    case 'github':
      return steps(
        <>In the repository or organisation open Settings, Webhooks, Add webhook.</>,
        <>Payload URL: {url}</>,
        <>
          Content type: <code>application/json</code>
        </>,
        <>Secret: {own}</>,
        <>Choose the events and press Add webhook. GitHub sends a ping, which appears under Deliveries.</>,
      );
    case 'gitlab':
      return steps(
        <>In the project open Settings, Webhooks, Add new webhook.</>,
        <>URL: {url}</>,
        <>Secret token: {own}</>,
        <>Choose the triggers, add the webhook, and press Test there.</>,
      );
    case 'stripe':
      return steps(
        <>In the Stripe dashboard open Developers, Webhooks, Add destination.</>,
        <>Endpoint URL: {url}</>,
        <>Choose the events and create the endpoint.</>,
        <>
          Stripe shows a signing secret (<code>whsec_…</code>). Paste it here: <SecretField hook={hook} />
        </>,
        <>Send a test event from Stripe. It appears under Deliveries.</>,
      );
    case 'slack':
      return steps(
        <>
          At <code>api.slack.com/apps</code> open the app, Basic Information, and copy its Signing Secret here: <SecretField hook={hook} />
        </>,
        <>In Event Subscriptions enter the Request URL: {url} Slack checks it at once.</>,
        <>Subscribe to the events that the agent is to receive, and save.</>,
      );
    case 'standard':
    case 'hmac':
      return steps(
        <>The sender posts JSON to: {url}</>,
        <>
          It signs each request with the secret: {own}
          {handsOverSecret(hook.options) ? null : (
            <>
              {' '}
              A sender that makes its own (Zoom, Shopify, Clerk): paste it here. <SecretField hook={hook} />
            </>
          )}
        </>,
        <>Send an event. It appears under Deliveries.</>,
      );
    case 'none':
      return steps(<>Whoever knows this address can make tasks: {url}</>, <>Post JSON to it. It appears under Deliveries.</>);
  }
}

function steps(...contents: ReactNode[]): Step[] {
  return contents.map((content, index) => ({ key: String(index), content }));
}

function Value({ text, label }: { text: string; label: string }): ReactElement {
  return (
    <span className={classes['value']}>
      <code>{text}</code>
      <CopyButton value={text} text={label} />
    </span>
  );
}

function OwnSecret({ secret }: { secret: string | null }): ReactElement {
  if (secret === null) return <>the secret that was shown when the hook was created. If it is lost, make another secret: Change secret.</>;
  return (
    <>
      <Value text={secret} label="Copy secret" /> <strong>It is shown only now.</strong>
    </>
  );
}

/** The secret that the sender gave. */
function SecretField({ hook }: { hook: Hook }): ReactElement | null {
  const [secret, setSecret] = useState('');
  const may = useMay('operate');
  const act = useAction();
  if (!may) return null;
  const save = async (event: SubmitEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const isDone = await act({
      run: () => answerOf(api.PATCH('/v1/hooks/{id}', { ...byId(hook.id), body: { secret } })),
      done: 'The secret is saved',
      refresh: [hookKey(hook.id)],
    });
    if (isDone) setSecret('');
  };
  return (
    <form className={classes['secret']} onSubmit={(event) => void save(event)}>
      <PasswordInput
        size="xs"
        aria-label="Signing secret"
        autoComplete="off"
        required
        value={secret}
        onChange={({ currentTarget }) => setSecret(currentTarget.value)}
      />
      <Button size="xs" type="submit">
        Save
      </Button>
    </form>
  );
}
