import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { isTerminal } from '#shared/tasks/transitions.ts';
import { ApiProblem } from '../api/api-problem.ts';
import { readTaskParts, type TaskParts, type TaskPlace } from '../api/tasks.ts';
import { readTaskStream } from './read-task-stream.ts';
import { addOutput, NOTHING_WRITTEN, type WrittenOutput } from './written-output.ts';
import { usePerson } from '../api/queries.ts';

/** Without a stream that says when something happened, and with one. */
const LOOK_MS = 2000;
const LOOK_WITH_STREAM_MS = 10_000;
/** Events may come in dozens; one look answers all of them. */
const GATHER_MS = 150;

export interface LiveTask {
  parts: TaskParts | undefined;
  error: unknown;
  written: WrittenOutput;
  isLive: boolean;
  lookAgain: () => void;
}

/** A task and what it writes, for as long as it is shown: by its stream, and by looking now and then, should that be cut. */
export function useTask(place: TaskPlace): LiveTask {
  const queries = useQueryClient();
  const queryKey = ['task', place.tenant, place.id];
  const [written, setWritten] = useState(NOTHING_WRITTEN);
  const [isLive, setLive] = useState(false);
  const { data, error } = useQuery({
    queryKey,
    queryFn: ({ signal }) => readTaskParts(place, signal),
    refetchInterval: ({ state }) => lookAfter(state.data, state.error, isLive),
    retry: (failures, thrown) => failures < 3 && !isRefusal(thrown),
  });
  const lookAgain = (): void => void queries.invalidateQueries({ queryKey });
  const { id, tenant } = place;
  // A task that was opened again has another life to follow.
  const life = data === undefined ? null : isTerminal(data.task.status) ? 'ended' : 'open';
  useEffect(() => {
    if (life === null) return undefined;
    const leaving = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const onEvent = (name: string, event: unknown): void => {
      if (name === 'output') return setWritten((before) => addOutput(before, event));
      timer ??= setTimeout(() => {
        timer = undefined;
        void queries.invalidateQueries({ queryKey: ['task', tenant, id] });
      }, GATHER_MS);
      return undefined;
    };
    void readTaskStream({ place: { id, tenant }, onEvent, onOpen: setLive }, leaving.signal);
    return () => {
      leaving.abort();
      clearTimeout(timer);
    };
  }, [id, tenant, life, queries]);
  return { parts: data, error, written, isLive: isLive && life === 'open', lookAgain };
}

function lookAfter(parts: TaskParts | undefined, error: unknown, isLive: boolean): number | false {
  if (isRefusal(error)) return false;
  if (parts !== undefined && isTerminal(parts.task.status)) return false;
  return isLive ? LOOK_WITH_STREAM_MS : LOOK_MS;
}

/** What asking again would not change. */
function isRefusal(error: unknown): boolean {
  return error instanceof ApiProblem && error.status >= 400 && error.status < 500 && error.status !== 429;
}

/** Scopes that include `submit`. */
const SUBMITTING = new Set(['admin', 'operate', 'submit']);

/** Whether who is signed in may make and stop tasks. */
export function useMaySubmit(): boolean {
  const { data } = usePerson();
  return data?.scopes.some((scope) => SUBMITTING.has(scope)) ?? false;
}
