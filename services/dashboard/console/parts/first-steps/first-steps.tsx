import { Button } from '@mantine/core';
import { useState, type ReactElement } from 'react';
import { useAgentNames } from '../../api/call-api.ts';
import { useMay } from '../../api/person.ts';
import { navigate } from '../../routing/navigation.tsx';
import { notify } from '../actions/notices.tsx';
import { CopyButton } from '../copy.tsx';
import { curlOf } from '../curl.ts';
import { ProblemNote } from '../problem-note.tsx';
import { EXAMPLES, type Example } from './example-records.ts';
import classes from './first-steps.module.css';

/** The agent of a new installation, which needs no model. */
const FIRST_AGENT = 'echo';

/** What to do on an installation without tasks: examples to press, with the same as commands. */
export function FirstSteps(): ReactElement {
  const agents = useAgentNames();
  const agent = agents.includes(FIRST_AGENT) ? FIRST_AGENT : (agents[0] ?? FIRST_AGENT);
  return (
    <section aria-labelledby="first-steps">
      <h2 id="first-steps" className={classes['title']}>
        Begin with one of these
      </h2>
      <div className={classes['cards']}>
        {EXAMPLES.map((example) => (
          <ExampleCard key={example.title} example={example} agent={agent} />
        ))}
      </div>
      <p className="faint">
        The commands take the address from <code>MUSTER_URL</code> and a key from <code>MUSTER_API_KEY</code>. On the machine of the fleet{' '}
        <code>npx muster send &quot;Hello&quot;</code> does without them. The <a href="/docs">API’s documentation</a> has the rest.
      </p>
    </section>
  );
}

function ExampleCard({ example, agent }: { example: Example; agent: string }): ReactElement {
  const { title, text, button, needs, call, make } = example;
  const may = useMay(needs);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const command = curlOf({ method: 'POST', ...call(agent) });
  const start = async (): Promise<void> => {
    setBusy(true);
    try {
      navigate(await make(agent));
      notify({ text: 'Made. The other examples are at “First steps” in Ctrl-K.' });
    } catch (error) {
      setProblem(error);
      setBusy(false);
    }
  };
  return (
    <section className={`card ${classes['card']}`} aria-label={title}>
      <h3>{title}</h3>
      <p>{text}</p>
      {may ? (
        <Button loading={isBusy} onClick={() => void start()}>
          {button}
        </Button>
      ) : (
        <p className="faint">This key may not do that; it lacks the scope {needs}.</p>
      )}
      {problem === null ? null : <ProblemNote title="It was not made" error={problem} />}
      <pre className={classes['command']} tabIndex={0}>
        {command}
      </pre>
      <CopyButton value={command} text="Copy the command" />
    </section>
  );
}
