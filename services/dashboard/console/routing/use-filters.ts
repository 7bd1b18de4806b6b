import { useMemo } from 'react';
import { useSearch } from 'wouter/use-browser-location';
import { navigate } from './navigation.tsx';

/** `text`: one value. `list`: values separated by commas. `flag`: true or absent. */
export type FilterKind = 'text' | 'list' | 'flag';
export type FilterSpec = Readonly<Record<string, FilterKind>>;

interface KindValues {
  text: string | null;
  list: readonly string[];
  flag: boolean;
}

export type FilterValues<Spec extends FilterSpec> = { readonly [Name in keyof Spec]: KindValues[Spec[Name]] };

export interface Filters<Spec extends FilterSpec> {
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
  const query = useSearch();
  return useMemo(() => {
    const values = readFilters(spec, query);
    const search = filterQuery(spec, values);
    return {
      values,
      search,
      count: [...new URLSearchParams(search).keys()].length,
      change: (changes, options) => showQuery(changedQuery(spec, changes), options),
      clear: () => showQuery(''),
    };
  }, [spec, query]);
}

/** Reads filters of an address; parameters that the spec does not name are left out. */
export function readFilters<Spec extends FilterSpec>(spec: Spec, query: string): FilterValues<Spec> {
  const params = new URLSearchParams(query);
  const entries = Object.entries(spec).map(([name, kind]) => [name, readValue(kind, params.getAll(name))] as const);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each name has the value of its kind
  return Object.fromEntries(entries) as FilterValues<Spec>;
}

function readValue(kind: FilterKind, given: readonly string[]): KindValues[FilterKind] {
  const first = given[0] ?? '';
  switch (kind) {
    case 'text':
      return first === '' ? null : first;
    case 'list':
      return given.flatMap((each) => each.split(',')).filter((each) => each !== '');
    case 'flag':
      return first === 'true';
  }
}

/** The query of filters, in the order of the spec. */
export function filterQuery<Spec extends FilterSpec>(spec: Spec, values: FilterValues<Spec>): string {
  const params = new URLSearchParams();
  for (const name of Object.keys(spec)) {
    const value: KindValues[FilterKind] | undefined = values[name];
    const text = Array.isArray(value) ? value.join(',') : value === true ? 'true' : typeof value === 'string' ? value : '';
    if (text !== '') params.set(name, text);
  }
  return params.toString();
}

/** The query of the address with changed filters; parameters of others, as the order of a table, stay. */
function changedQuery<Spec extends FilterSpec>(spec: Spec, changes: Partial<FilterValues<Spec>>): string {
  const before = window.location.search;
  const others = [...new URLSearchParams(before)].filter(([name]) => !(name in spec));
  const filters = new URLSearchParams(filterQuery(spec, { ...readFilters(spec, before), ...changes }));
  return new URLSearchParams([...filters, ...others]).toString();
}

function showQuery(search: string, options: { replace?: boolean } = {}): void {
  const { pathname } = window.location;
  navigate(search === '' ? pathname : `${pathname}?${search}`, options);
}
