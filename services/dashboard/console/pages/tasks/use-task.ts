import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { TaskStreamEvent } from '#shared/client/openapi.gen.ts';
import { isTerminal } from '#shared/tasks/transitions.ts';
import { ApiProblem } from '../../api/api-problem.ts';
import { usePerson } from '../../api/person.ts';
import { taskApiPath, type TaskRef, toTask } from '../../api/task-ref.ts';
import { readTaskParts, type TaskParts } from './read-task-parts.ts';
import { addOutput, NOTHING_WRITTEN, readTaskStream, type WrittenOutput } from './task-stream.ts';

/** The time between two polls without a stream, and with it. */
const POLL_MS = 2000;
const POLL_WITH_STREAM_MS = 10_000;
/** Events arrive in bursts; one request answers all events of this time. */
const BATCH_MS = 150;

export interface LiveTask {
  parts: TaskParts | undefined;
  error: unknown;
  written: WrittenOutput;
  isLive: boolean;
  refresh: () => void;
}

/** A task and its output while its page is shown: from the stream, and by polling in case the stream is cut. */
export function useTask(taskRef: TaskRef): LiveTask {
  const queries = useQueryClient();
  const queryKey = ['task', taskRef.tenant, taskRef.id];
  const [written, setWritten] = useState(NOTHING_WRITTEN);
  const [isLive, setLive] = useState(false);
  const { data, error } = useQuery({
    queryKey,
    queryFn: ({ signal }) => readTaskParts(taskRef, signal),
    refetchInterval: ({ state }) => pollInterval(state.data, state.error, isLive),
    retry: (failures, thrown) => failures < 3 && !isRefusal(thrown),
  });
  const refresh = (): void => void queries.invalidateQueries({ queryKey });
  const { id, tenant } = taskRef;
  // A reopened task needs a new stream.
  const phase = data === undefined ? null : isTerminal(data.task.status) ? 'ended' : 'open';
  useEffect(() => {
    if (phase === null) return undefined;
    const closing = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const onEvent = (event: TaskStreamEvent): void => {
      if (event.event === 'output') return setWritten((before) => addOutput(before, event.data));
      timer ??= setTimeout(() => {
        timer = undefined;
        void queries.invalidateQueries({ queryKey: ['task', tenant, id] });
      }, BATCH_MS);
      return undefined;
    };
    const streamed = { id, tenant };
    void readTaskStream(
      { url: `${taskApiPath(streamed)}/stream`, headers: toTask(streamed).headers, onEvent, onOpen: setLive },
      closing.signal,
    );
    return () => {
      closing.abort();
      clearTimeout(timer);
    };
  }, [id, tenant, phase, queries]);
  return { parts: data, error, written, isLive: isLive && phase === 'open', refresh };
}

function pollInterval(parts: TaskParts | undefined, error: unknown, isLive: boolean): number | false {
  if (isRefusal(error)) return false;
  if (parts !== undefined && isTerminal(parts.task.status)) return false;
  // No event says that a run did something.
  if (parts?.task.status === 'running' && parts.journal.length > 0) return POLL_MS;
  return isLive ? POLL_WITH_STREAM_MS : POLL_MS;
}

/** Whether the API refused, so that another request would fail too. */
function isRefusal(error: unknown): boolean {
  return error instanceof ApiProblem && error.status >= 400 && error.status < 500 && error.status !== 429;
}

/** Scopes that include `submit`. */
const SUBMITTING = new Set(['admin', 'operate', 'submit']);

/** Whether the person who is signed in may submit and cancel tasks. */
export function useMaySubmit(): boolean {
  const { data } = usePerson();
  return data?.scopes.some((scope) => SUBMITTING.has(scope)) ?? false;
}
