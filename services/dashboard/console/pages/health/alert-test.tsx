import { Button } from '@mantine/core';
import { useState, type ReactElement } from 'react';
import { problemText } from '../../api/api-problem.ts';
import { answerOf, api } from '../../api/api.ts';
import { useMay } from '../../api/person.ts';
import { useBusy } from '../../parts/actions/use-busy.ts';
import classes from './alerts.module.css';

interface Result {
  text: string;
  tone: 'good' | 'bad';
}

/** The button that sends a test, and beside it what came of it, which stays until the next one. */
export function AlertTest({ rule }: { rule: string }): ReactElement | null {
  const may = useMay('operate');
  const { button, isBusy, whileBusy } = useBusy();
  const [result, setResult] = useState<Result | null>(null);
  if (!may) return null;
  const test = async (): Promise<void> => {
    setResult(null);
    try {
      await whileBusy(() => answerOf(api.POST('/v1/alerts/{name}/test', { params: { path: { name: rule } } })));
      setResult({ text: 'The receiver took the test. Look there whether it arrived.', tone: 'good' });
    } catch (error) {
      setResult({ text: problemText(error), tone: 'bad' });
    }
  };
  return (
    <div className={classes['test']}>
      <Button ref={button} size="xs" variant="default" loading={isBusy} onClick={() => void test()}>
        Send a test
      </Button>
      <output data-tone={result?.tone}>{result?.text}</output>
    </div>
  );
}
