import { useQuery } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore } from 'react';
import { readMade, type TourThing } from './read-made.ts';
import { createStore } from '../parts/actions/store.ts';

const KEY = 'muster-tour';
const POLL_MS = 3000;

/** Whether this browser shows the tour; what is done is read from the API, so a reload or another browser goes on where it was. */
const tour = createStore(readStored());

export function useIsTourOn(): boolean {
  return useSyncExternalStore(tour.subscribe, tour.read);
}

/** How many lists of examples the page shows. */
const examples = createStore(0);

export function useIsBesideExamples(): boolean {
  return useSyncExternalStore(examples.subscribe, () => examples.read() > 0);
}

/** Hides the tour while the component with the examples is shown. */
export function useExamplesShown(): void {
  useEffect(() => {
    examples.change((before) => before + 1);
    return () => examples.change((before) => before - 1);
  }, []);
}

export function switchTour(isOn: boolean): void {
  tour.change(() => isOn);
  try {
    localStorage.setItem(KEY, isOn ? 'on' : 'off');
  } catch {
    // A browser that stores nothing shows the tour until it is reloaded.
  }
}

function readStored(): boolean {
  try {
    return localStorage.getItem(KEY) === 'on';
  } catch {
    return false;
  }
}

/** The steps that are done; undefined until known. */
export function useMade(isShown: boolean): ReadonlySet<TourThing> | undefined {
  const { data } = useQuery({
    queryKey: ['tour'],
    queryFn: ({ signal }) => readMade(signal),
    enabled: isShown,
    refetchInterval: ({ state }) => (state.data?.size === 3 ? false : POLL_MS),
  });
  return data;
}
