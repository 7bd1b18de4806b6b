import { useMantineColorScheme } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useDeferredValue } from 'react';
import { CONSOLE_PAGES } from '../../console-pages.ts';
import type { Queue } from '#shared/client/openapi.gen.ts';
import { answerOf, api, itemsOf } from '../api/api.ts';
import { useAgentNames } from '../api/known-agents.ts';
import { useIsInstallation, useMay, useMayRead } from '../api/person.ts';
import { switchQueue } from '../pages/queues/switch-queue.ts';
import { readSchedules } from '../pages/schedules/schedule-reads.ts';
import { useAction } from '../parts/actions/use-action.ts';
import { openNewTask } from '../parts/new-task/new-task.tsx';
import { navigate } from '../routing/navigation.tsx';
import { sessionPath, taskPath } from '../routing/paths.ts';

export interface PaletteItem {
  readonly key: string;
  /** `Page`, `Task`, `Do`. */
  readonly kind: string;
  readonly text: string;
  readonly hint?: string;
  /** Not shown, but found. */
  readonly id?: string;
  readonly run: () => void;
}

/** Of each kind; whoever looks for more has the pages. */
const MAX_OF_KIND = 6;
const MIN_SEARCH = 2;
const FRESH_MS = 30_000;

/** What fits the typed words, best known first: pages, actions, records. */
export function usePaletteItems(typed: string): PaletteItem[] {
  const words = typed.trim().toLowerCase();
  const fits = ({ text, hint = '', id = '' }: PaletteItem): boolean =>
    words.split(/\s+/).every((word) => `${text} ${hint} ${id}`.toLowerCase().includes(word));
  const known = [usePages(), useActions(), useQueueActions(), useAgents(), useSessions(), useSchedules()];
  const tasks = useTasks(words);
  return [...known.flatMap((items) => items.filter(fits).slice(0, words === '' ? MAX_OF_KIND : MAX_OF_KIND * 2)), ...tasks];
}

function usePages(): PaletteItem[] {
  const mayRead = useMayRead();
  return CONSOLE_PAGES.filter((page) => page.inNavigation !== false && mayRead(page)).map(({ path, text }) =>
    link({ kind: 'Page', text, hint: path, path }),
  );
}

function useActions(): PaletteItem[] {
  const may = useMay('submit');
  const { setColorScheme } = useMantineColorScheme({ keepTransitions: true });
  const schemes = [
    { scheme: 'light', text: 'Light colours' },
    { scheme: 'dark', text: 'Dark colours' },
    { scheme: 'auto', text: 'Colours of the system' },
  ] as const;
  return [
    ...(may ? [{ key: 'new task', kind: 'Do', text: 'New task', run: openNewTask }] : []),
    ...(may ? [link({ kind: 'Do', text: 'New chat', path: '/chat' })] : []),
    link({ kind: 'Page', text: 'First steps', hint: 'examples', path: '/start' }),
    ...schemes.map(({ scheme, text }) => ({ key: text, kind: 'Do', text, hint: 'theme', run: () => setColorScheme(scheme) })),
  ];
}

function useQueueActions(): PaletteItem[] {
  const isInstallation = useIsInstallation();
  const may = useMay('operate') && isInstallation;
  const act = useAction();
  const { data } = useQuery({
    queryKey: ['queues', 'palette'],
    queryFn: ({ signal }) => itemsOf(api.GET('/v1/queues', { signal })),
    enabled: may,
    staleTime: FRESH_MS,
  });
  const change = ({ name, paused }: Queue): Promise<boolean> =>
    act({
      run: () => switchQueue(name, !paused),
      done: paused ? `The queue ${name} goes on` : `The queue ${name} is paused`,
      refresh: [['queues']],
      undo: () => switchQueue(name, paused),
      ...(paused
        ? {}
        : { confirm: { title: `Pause the queue ${name}?`, text: 'No worker starts its tasks until it is resumed.', button: 'Pause it' } }),
    });
  return (data ?? []).map((queue) => ({
    key: `queue ${queue.name}`,
    kind: 'Do',
    text: `${queue.paused ? 'Resume' : 'Pause'} the queue ${queue.name}`,
    run: () => void change(queue),
  }));
}

/** Of a kind that are read; what is typed chooses among them. */
const SHOWN = 100;

function useAgents(): PaletteItem[] {
  return useAgentNames().map((name) =>
    link({ kind: 'Agent', text: name, hint: 'its tasks', path: `/tasks?agent=${encodeURIComponent(name)}` }),
  );
}

function useSessions(): PaletteItem[] {
  const { data } = useQuery({
    queryKey: ['sessions', 'palette'],
    queryFn: ({ signal }) => itemsOf(api.GET('/v1/sessions', { params: { query: { sort: 'activity', limit: SHOWN } }, signal })),
    staleTime: FRESH_MS,
  });
  return (data ?? []).map(({ id }) => link({ kind: 'Session', text: id, path: sessionPath(id) }));
}

function useSchedules(): PaletteItem[] {
  const { data } = useQuery({
    queryKey: ['schedules', 'palette'],
    queryFn: ({ signal }) => readSchedules({ q: null, status: null, agent: null, cursor: null, isWide: true }, signal),
    staleTime: FRESH_MS,
  });
  return (data?.items ?? []).map(({ id, name, message, sentence }) =>
    link({ kind: 'Schedule', text: name ?? message, hint: sentence, id, path: `/schedules?open=${encodeURIComponent(id)}` }),
  );
}

function useTasks(words: string): PaletteItem[] {
  const wanted = useDeferredValue(words);
  const { data } = useQuery({
    queryKey: ['tasks', 'palette', wanted],
    queryFn: ({ signal }) =>
      answerOf(
        api.GET('/v1/tasks', {
          params: { query: { q: wanted, limit: SHOWN } },
          signal,
        }),
      ),
    enabled: wanted.length >= MIN_SEARCH,
    staleTime: FRESH_MS,
  });
  const found = (data?.items ?? []).slice(0, MAX_OF_KIND);
  return found.map(({ id, input, agent, status }) =>
    link({
      kind: 'Task',
      text: input.slice(0, 200),
      hint: `${agent}, ${status.replaceAll('_', ' ')}`,
      path: taskPath({ id, tenant: null }),
    }),
  );
}

function link({ path, ...item }: Omit<PaletteItem, 'key' | 'run'> & { path: string }): PaletteItem {
  return { ...item, key: `${item.kind} ${path} ${item.text}`, run: () => navigate(path) };
}
