import { useMemo } from 'react';
import { usePathname, useSearch } from 'wouter/use-browser-location';
import { filterQuery, readFilters, type FilterSpec, type FilterValues } from './filter-query.ts';
import { navigate } from './navigation.tsx';
import { useShownLocation } from './shown-location.tsx';

export interface Filters<Spec extends FilterSpec> {
  readonly spec: Spec;
  readonly values: FilterValues<Spec>;
  /** The query of the API, without `?`; empty without filters. */
  readonly search: string;
  /** How many filters are set. */
  readonly count: number;
  /** Changes the address. `replace`: without an entry in the browser's history, while a person types. */
  readonly change: (changes: Partial<FilterValues<Spec>>, options?: { replace?: boolean }) => void;
  readonly clear: () => void;
}

/** The filters of a page, which are the query of its address and that of the API. `spec` is a constant. */
export function useFilters<Spec extends FilterSpec>(spec: Spec): Filters<Spec> {
  return useFiltersIn(spec, useShownLocation().search);
}

/** The same as the address has them now, for the fields in which a person changes them: they must not wait until the page follows. */
export function useFieldFilters<Spec extends FilterSpec>(spec: Spec): Filters<Spec> {
  const shown = useShownLocation();
  const [path, search] = [usePathname(), useSearch()];
  // A page that is about to be replaced keeps its fields: another height would move the place to which Back returns.
  return useFiltersIn(spec, path === shown.path ? search : shown.search);
}

function useFiltersIn<Spec extends FilterSpec>(spec: Spec, query: string): Filters<Spec> {
  return useMemo(() => {
    const values = readFilters(spec, query);
    const search = filterQuery(spec, values);
    return {
      spec,
      values,
      search,
      count: [...new URLSearchParams(search).keys()].length,
      change: (changes, options) => showQuery(changedQuery(spec, changes), options),
      clear: () => showQuery(otherParameters(spec).toString()),
    };
  }, [spec, query]);
}

/** The query of the address with changed filters; parameters of others, as the order of a table, stay. */
function changedQuery<Spec extends FilterSpec>(spec: Spec, changes: Partial<FilterValues<Spec>>): string {
  const filters = new URLSearchParams(filterQuery(spec, { ...readFilters(spec, window.location.search), ...changes }));
  return new URLSearchParams([...filters, ...otherParameters(spec)]).toString();
}

function otherParameters(spec: FilterSpec): URLSearchParams {
  return new URLSearchParams([...new URLSearchParams(window.location.search)].filter(([name]) => !(name in spec)));
}

function showQuery(search: string, options: { replace?: boolean } = {}): void {
  const { pathname } = window.location;
  navigate(search === '' ? pathname : `${pathname}?${search}`, options);
}
