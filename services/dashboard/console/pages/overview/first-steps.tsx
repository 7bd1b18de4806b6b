import { Text, Title } from '@mantine/core';
import type { ReactElement } from 'react';
import { PageLink } from '../../routing/navigation.tsx';
import classes from './overview.module.css';

const CURL = `curl "$MUSTER_URL/v1/tasks" -H "Authorization: Bearer $MUSTER_API_KEY" \\
  -H 'Content-Type: application/json' -d '{"agent":"echo","input":"Hello"}'`;

/** The first steps on an installation without tasks. */
export function FirstSteps(): ReactElement {
  return (
    <section className="card">
      <Title order={2} size="h4">
        Nothing yet
      </Title>
      <Text mt="xs">
        <PageLink href="/chat">Write to an agent</PageLink>, or <PageLink href="/schedules">let one work at fixed times</PageLink>.
      </Text>
      <Text mt="md">From a terminal, on the machine of the fleet:</Text>
      <pre className={classes['command']} tabIndex={0}>
        npx muster send &quot;Hello&quot;
      </pre>
      <Text mt="md">
        From anywhere, with the address in <code>MUSTER_URL</code> and a key in <code>MUSTER_API_KEY</code>:
      </Text>
      <pre className={classes['command']} tabIndex={0}>
        {CURL}
      </pre>
      <Text mt="md">
        The <a href="/docs">API documentation</a> has the rest, and the <a href="/board">board</a> shows the queues.
      </Text>
    </section>
  );
}
