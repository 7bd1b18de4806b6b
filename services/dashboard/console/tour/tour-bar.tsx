import { Button } from '@mantine/core';
import { useState, type ReactElement } from 'react';
import { useAgentNames } from '../api/known-agents.ts';
import { useMayFor } from '../api/person.ts';
import type { TourThing } from './read-made.ts';
import { Icon } from '../parts/icon.tsx';
import { useAction } from '../parts/actions/use-action.ts';
import { EXAMPLES, exampleAgent, type Example } from '../parts/first-steps/example-records.ts';
import { navigate, PageLink } from '../routing/navigation.tsx';
import { switchTour, useIsBesideExamples, useMade } from './tour-state.ts';
import classes from './tour.module.css';

/** The steps of the tour above each page: what is done, what is seen here, and the next one to press. */
export function TourBar(): ReactElement | null {
  const made = useMade(true);
  const may = useMayFor();
  const steps = EXAMPLES.filter(({ needs }) => may(needs));
  // The examples on a page are the same steps.
  const isBeside = useIsBesideExamples();
  if (isBeside || made === undefined || steps.length === 0) return null;
  const next = steps.find(({ thing }) => !made.has(thing));
  const last = steps.findLast(({ thing }) => made.has(thing));
  return (
    <section className={classes['bar']} aria-label="Tour">
      <Steps steps={steps} made={made} next={next} />
      <p className={classes['text']}>
        {next === undefined ? (
          <>
            You have seen a task, a schedule and a hook. The example schedule runs every hour until it is deleted at{' '}
            <PageLink href="/schedules">Schedules</PageLink>.
          </>
        ) : (
          (last?.seen ?? next.text)
        )}
      </p>
      <span className={classes['buttons']}>
        {next === undefined ? null : <NextButton key={next.thing} example={next} />}
        <Button size="compact-sm" variant="default" onClick={() => switchTour(false)}>
          {next === undefined ? 'Done' : 'End the tour'}
        </Button>
      </span>
    </section>
  );
}

interface StepsProps {
  steps: readonly Example[];
  made: ReadonlySet<TourThing>;
  next: Example | undefined;
}

function Steps({ steps, made, next }: StepsProps): ReactElement {
  return (
    <ol className={classes['steps']}>
      {steps.map(({ thing, title }, place) => {
        const isDone = made.has(thing);
        return (
          <li key={thing} data-done={isDone || undefined} aria-current={thing === next?.thing ? 'step' : undefined}>
            <span className={classes['mark']} aria-hidden="true">
              {isDone ? <Icon name="check" size={12} /> : place + 1}
            </span>
            {title}
            {isDone ? <span className="unseen">, done</span> : null}
          </li>
        );
      })}
    </ol>
  );
}

function NextButton({ example: { button, make } }: { example: Example }): ReactElement {
  const agent = exampleAgent(useAgentNames());
  const act = useAction();
  const [isBusy, setBusy] = useState(false);
  const onClick = async (): Promise<void> => {
    setBusy(true);
    await act({ run: async () => navigate(await make(agent)), done: 'Made', refresh: [['tour']] });
    setBusy(false);
  };
  return (
    <Button size="compact-sm" loading={isBusy} onClick={() => void onClick()}>
      {button}
    </Button>
  );
}
