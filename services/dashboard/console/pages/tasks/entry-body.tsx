import { Button } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState, type ReactElement } from 'react';
import type { JournalEntry } from '#shared/client/openapi.gen.ts';
import { answerOf, api } from '../../api/api.ts';
import { taskApiPath, toTask, type TaskRef } from '../../api/task-ref.ts';
import { CopyButton } from '../../parts/copy.tsx';
import { curlOf } from '../../parts/curl.ts';
import { ProblemNote } from '../../parts/notes/problem-note.tsx';
import { JsonView } from '../../parts/text/json-view.tsx';
import { TextView } from '../../parts/text/text-view.tsx';
import { navigate } from '../../routing/navigation.tsx';
import { taskPath } from '../../routing/paths.ts';
import classes from './tasks.module.css';
import { useMaySubmit } from './use-task.ts';

interface EntryBodyProps {
  entry: JournalEntry;
  taskRef: TaskRef;
  isEnded: boolean;
}

/** What an entry was given and gave, and what may be done with it; closed until it is asked for. */
export function EntryBody({ entry, taskRef, isEnded }: EntryBodyProps): ReactElement | null {
  const [isOpen, setOpen] = useState(false);
  const { seq, kind } = entry;
  return (
    <details className={classes['part']} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{WORDS[kind] ?? 'What it gave'}</summary>
      {isOpen ? (
        <>
          <Body entry={entry} taskRef={taskRef} />
          <div className={classes['line']}>
            <CopyButton value={curlOf({ path: `${taskApiPath(taskRef)}/journal/${seq}` })} text="Copy as curl" />
            <RunFrom entry={entry} taskRef={taskRef} isEnded={isEnded} />
          </div>
        </>
      ) : null}
    </details>
  );
}

const WORDS: Readonly<Partial<Record<JournalEntry['kind'], string>>> = {
  definition: 'What the run goes by',
  model: 'What the model said',
  tool: 'Input and result',
  question: 'Question and answer',
  delegate: 'Sub-tasks and what they gave',
};

/** Long bodies are read when they are looked at. */
function Body({ entry, taskRef }: Pick<EntryBodyProps, 'entry' | 'taskRef'>): ReactElement {
  const { seq, bytes, value, status } = entry;
  const isShown = value !== null || bytes === null;
  const { data = isShown ? entry : undefined, error } = useQuery({
    queryKey: ['journal-entry', taskRef.tenant, taskRef.id, seq, status],
    queryFn: ({ signal }) => {
      const { params, ...options } = toTask(taskRef);
      return answerOf(api.GET('/v1/tasks/{id}/journal/{seq}', { ...options, params: { path: { ...params.path, seq } }, signal }));
    },
    enabled: !isShown,
  });
  if (error !== null) return <ProblemNote title="The entry could not be read" error={error} />;
  if (data === undefined) return <p className="faint">Reading {bytes} bytes</p>;
  if (data.value === undefined && data.input === undefined)
    return <p className="faint">{bytes === null ? 'Nothing.' : `${bytes} bytes, which need the scope journal.`}</p>;
  return <Values entry={data} />;
}

function Values({ entry }: { entry: JournalEntry }): ReactElement {
  return (
    <>
      {partsOf(entry)
        .filter(({ value }) => value !== undefined && value !== null && value !== '')
        .map((part) => (
          <Value key={part.label} part={part} seq={entry.seq} />
        ))}
    </>
  );
}

function Value({ part: { label, value }, seq }: { part: Part; seq: number }): ReactElement {
  const region = `${label}, entry ${seq}`;
  return (
    <div>
      <span className="faint">{label}</span>
      {typeof value === 'string' ? <TextView text={value} label={region} /> : <JsonView value={value} label={region} />}
    </div>
  );
}

interface Part {
  label: string;
  value: unknown;
}

function partsOf({ kind, input, value }: JournalEntry): Part[] {
  const gave = { label: 'Gave', value };
  if (kind === 'model') return [{ label: 'Said', value: memberOf(value, 'text') }, callsOf(memberOf(value, 'calls'))];
  if (kind === 'tool') return [{ label: 'Given', value: memberOf(input, 'input') }, gave];
  if (kind === 'definition') return [{ label: 'Gave', value: memberOf(value, 'run') ?? value }];
  return [{ label: 'Given', value: input }, gave];
}

function callsOf(calls: unknown): Part {
  return { label: 'Calls', value: Array.isArray(calls) && calls.length > 0 ? calls.map(callOf) : null };
}

/** A call as a person reads it. */
function callOf(call: unknown): unknown {
  const problem = memberOf(call, 'problem');
  return { tool: memberOf(call, 'name'), input: memberOf(call, 'input'), ...(typeof problem === 'string' && { problem }) };
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

/** Makes a new task that has the journal up to here, and goes on behind it. */
function RunFrom({ entry: { seq, status, kind }, taskRef, isEnded }: EntryBodyProps): ReactElement | null {
  const again = useMutation({
    mutationFn: () => answerOf(api.POST('/v1/tasks/{id}/retry', { ...toTask(taskRef), body: { fromStep: seq } })),
    onSuccess: ({ id }) => navigate(taskPath({ id, tenant: taskRef.tenant })),
  });
  const may = useMaySubmit();
  if (!may || !isEnded || kind === 'definition' || status === 'waiting' || status === 'started') return null;
  return (
    <>
      <Button size="compact-xs" variant="default" loading={again.isPending} onClick={() => again.mutate()}>
        Run again from here
      </Button>
      {again.error === null ? null : <ProblemNote title="It was not run again" error={again.error} />}
    </>
  );
}
