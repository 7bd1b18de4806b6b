import { createContext, use, useDeferredValue, useMemo, type ReactElement, type ReactNode } from 'react';
import { useHistoryState, usePathname, useSearch } from 'wouter/use-browser-location';

/** The address whose page is shown. */
interface ShownLocation {
  readonly path: string;
  /** The query, without `?`. */
  readonly search: string;
  /** The state of its entry in the browser's history. */
  readonly state: unknown;
}

const LocationContext = createContext<ShownLocation | null>(null);

/**
 * Pages follow the browser's address through it, all of them at once and in steps between frames: what changes when a person goes to another
 * page, or filters a long table, takes longer than a frame. Until then what was there stays. `children` are a constant.
 */
export function LocationProvider({ children }: { children: ReactNode }): ReactElement {
  const [path, search, state] = [usePathname(), useSearch(), useHistoryState<unknown>()];
  const current = useMemo(() => ({ path, search, state }), [path, search, state]);
  const shown = useDeferredValue(current);
  return <LocationContext value={shown}>{children}</LocationContext>;
}

export function useShownLocation(): ShownLocation {
  const location = use(LocationContext);
  if (location === null) throw new Error('Only what is inside a LocationProvider has a location');
  return location;
}
