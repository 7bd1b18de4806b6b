import type { Entry, Item, Variants } from './variants.ts';

/** What the chart's values say instead of the base, by the path of a value in its object: lines at an indentation, or null for none. */
export type Replace = (path: readonly string[], indent: string, plain: unknown) => string[] | null;

/** The lines of a value as a template of Helm, below the given indentation. */
export function emitValue(variants: Variants, path: readonly string[], indent: string, replace: Replace): string[] {
  switch (variants.kind) {
    case 'map':
      return variants.entries.flatMap((entry) => conditional(entry, emitEntry(entry, path, indent, replace)));
    case 'list':
      return variants.items.flatMap((item) => conditional(item, emitItem(item, path, indent, replace)));
    case 'scalar':
      return [`${indent}${scalar(variants.value)}`];
  }
}

/** Lines that are there only as a part's components say. */
export function conditional({ with: present, without }: Pick<Item, 'with' | 'without'>, lines: string[]): string[] {
  const tests = [
    ...(present.length === 0 ? [] : [present.length === 1 ? flag(present[0]) : `(or ${present.map(flag).join(' ')})`]),
    ...without.map((component) => `(not ${flag(component)})`),
  ];
  if (tests.length === 0) return lines;
  const test = tests.length === 1 ? tests[0]?.replace(/^\((.*)\)$/, '$1') : `and ${tests.join(' ')}`;
  return [`{{- if ${test} }}`, ...lines, '{{- end }}'];
}

const flag = (component = ''): string => `.Values.components.${component}`;

function emitEntry(entry: Entry, path: readonly string[], indent: string, replace: Replace): string[] {
  const at = [...path, entry.name];
  const replaced = replace(at, indent, entry.plain);
  if (replaced) return replaced;
  const name = `${indent}${/^[\w./-]+$/.test(entry.name) ? entry.name : JSON.stringify(entry.name)}:`;
  if (entry.value.kind === 'scalar') return [`${name} ${scalar(entry.value.value)}`];
  if (isEmpty(entry.value)) return [`${name} ${entry.value.kind === 'map' ? '{}' : '[]'}`];
  return [name, ...emitValue(entry.value, at, `${indent}  `, replace)];
}

function emitItem(item: Item, path: readonly string[], indent: string, replace: Replace): string[] {
  if (item.value.kind === 'scalar') return [`${indent}- ${scalar(item.value.value)}`];
  const lines = emitValue(item.value, [...path, '-'], `${indent}  `, replace);
  const [first = ''] = lines;
  // A condition before the first member would take the dash away.
  return first.startsWith('{{') ? [`${indent}-`, ...lines] : [`${indent}- ${first.trimStart()}`, ...lines.slice(1)];
}

const isEmpty = (variants: Variants): boolean =>
  (variants.kind === 'map' && variants.entries.length === 0) || (variants.kind === 'list' && variants.items.length === 0);

/** As JSON, which YAML is, but for plain words. */
function scalar(value: string | number | boolean | null): string {
  if (typeof value !== 'string') return String(value);
  const inNamespace = value.replace(/^http:\/\/api\.muster\.svc\//, 'http://api.{{ .Release.Namespace }}.svc/');
  if (inNamespace !== value) return inNamespace;
  return /^[A-Za-z/][\w./-]*$/.test(value) && !/^(true|false|yes|no|on|off|null|y|n)$/i.test(value) ? value : JSON.stringify(value);
}
