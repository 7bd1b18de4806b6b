import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { hasTasks, type NowParts, readNow } from './read-now.ts';
import { Icon } from '../../parts/icon.tsx';
import { PageFrame } from '../../parts/layout/page-frame.tsx';
import { QueryView } from '../../parts/layout/query-view.tsx';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { navigate } from '../../routing/navigation.tsx';
import { AttentionPanel } from '../../parts/notes/attention-panel.tsx';
import { FirstSteps } from '../../parts/first-steps/first-steps.tsx';
import { NowStats } from './now-stats.tsx';
import classes from './overview.module.css';
import { AskedNote } from './asked-note.tsx';
import { FailedPanel } from './failed-panel.tsx';
import { RunningPanel } from './running-panel.tsx';
import { WaitingPanel } from './waiting-panel.tsx';

/** Also without the stream, what is shown is at most so old. */
const POLL_MS = 3000;

/** What runs, waits, failed and needs attention at this moment. */
export function Page(): ReactElement {
  const query = useLiveQuery({
    queryKey: ['now'],
    queryFn: ({ signal }) => readNow(signal),
    kinds: ['*'],
    everyMs: POLL_MS,
  });
  return (
    <PageFrame
      title="Now"
      actions={
        <Button size="xs" leftSection={<Icon name="chat" size={14} />} onClick={() => navigate('/chat')}>
          New chat
        </Button>
      }
    >
      <QueryView query={query} title="The fleet could not be read">
        {(parts) => <NowView parts={parts} />}
      </QueryView>
    </PageFrame>
  );
}

function NowView({ parts }: { parts: NowParts }): ReactElement {
  const { now, waiting, failed, attention } = parts;
  const isQuiet = now.runningTotal === 0 && waiting.length === 0 && failed.length === 0;
  const { data: isUsed } = useQuery({
    queryKey: ['now', 'used'],
    queryFn: ({ signal }) => hasTasks(signal),
    enabled: isQuiet,
    refetchInterval: ({ state }) => (state.data === true ? false : POLL_MS),
  });
  if (isQuiet && isUsed === false) return <FirstSteps />;
  return (
    <>
      <AskedNote questions={now.questions} />
      <NowStats parts={parts} />
      <div className={classes['wideColumns']}>
        {attention.length > 0 ? <AttentionPanel items={attention} readBy="now" /> : null}
        <RunningPanel now={now} />
      </div>
      <div className={classes['columns']}>
        <WaitingPanel now={now} tasks={waiting} />
        <FailedPanel tasks={failed} />
      </div>
    </>
  );
}
