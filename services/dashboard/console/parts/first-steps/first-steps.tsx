import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type ReactElement } from 'react';
import { useAgentNames } from '../../api/known-agents.ts';
import { useMay } from '../../api/person.ts';
import { switchTour, useExamplesShown, useMade } from '../../tour/tour-state.ts';
import { navigate } from '../../routing/navigation.tsx';
import { CopyButton } from '../copy.tsx';
import { curlOf } from '../curl.ts';
import { ProblemNote } from '../notes/problem-note.tsx';
import { EXAMPLES, exampleAgent, type Example } from './example-records.ts';
import { ToneBadge } from '../status-badge.tsx';
import classes from './first-steps.module.css';

/** What to do on an installation without tasks: examples to press, with the same as commands. */
export function FirstSteps(): ReactElement {
  const agent = exampleAgent(useAgentNames());
  const made = useMade(true);
  useExamplesShown();
  return (
    <section aria-labelledby="first-steps">
      <h2 id="first-steps" className={classes['title']}>
        Three steps, two minutes
      </h2>
      <div className={classes['cards']}>
        {EXAMPLES.map((example) => (
          <ExampleCard key={example.thing} example={example} agent={agent} isDone={made?.has(example.thing) ?? false} />
        ))}
      </div>
      <p className="faint">
        The commands take the address from <code>MUSTER_URL</code> and a key from <code>MUSTER_API_KEY</code>. On the machine of the fleet{' '}
        <code>npx muster send &quot;Hello&quot;</code> does without them. The <a href="/docs">API’s documentation</a> has the rest.
      </p>
    </section>
  );
}

interface ExampleCardProps {
  example: Example;
  agent: string;
  /** Whether the tenant has such a thing. */
  isDone: boolean;
}

function ExampleCard({ example, agent, isDone }: ExampleCardProps): ReactElement {
  const { title, text, button, needs, call, make } = example;
  const may = useMay(needs);
  const queries = useQueryClient();
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const command = curlOf({ method: 'POST', ...call(agent) });
  const start = async (): Promise<void> => {
    setBusy(true);
    try {
      const page = await make(agent);
      // The tour goes on above every page, with the step that comes now.
      await queries.invalidateQueries({ queryKey: ['tour'] });
      switchTour(true);
      navigate(page);
    } catch (error) {
      setProblem(error);
      setBusy(false);
    }
  };
  return (
    <section className={`card ${classes['card']}`} aria-label={title}>
      <h3>
        {title} {isDone ? <ToneBadge tone="good">done</ToneBadge> : null}
      </h3>
      <p>{text}</p>
      {may ? (
        <Button loading={isBusy} variant={isDone ? 'default' : 'filled'} onClick={() => void start()}>
          {button}
        </Button>
      ) : (
        <p className="faint">This key may not do that; it lacks the scope {needs}.</p>
      )}
      {problem === null ? null : <ProblemNote title="It was not made" error={problem} />}
      <pre className={classes['command']}>{command}</pre>
      <CopyButton value={command} text="Copy the command" />
    </section>
  );
}
