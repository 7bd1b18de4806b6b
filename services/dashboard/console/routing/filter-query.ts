/** `text`: one value. `list`: values separated by commas. `flag`: true or absent. */
export type FilterKind = 'text' | 'list' | 'flag';
export type FilterSpec = Readonly<Record<string, FilterKind>>;

interface KindValues {
  text: string | null;
  list: readonly string[];
  flag: boolean;
}

export type FilterValues<Spec extends FilterSpec> = { readonly [Name in keyof Spec]: KindValues[Spec[Name]] };

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
