import { isDeepStrictEqual } from 'node:util';
import type { Json } from './render-kustomize.ts';

/** When a part of an object is there: with any of some components, and without all of others. */
interface Presence {
  with: string[];
  without: string[];
}

/** A value of an object, and what components make of it. */
export type Variants =
  | { kind: 'scalar'; value: Exclude<Json, Json[] | { [name: string]: Json }> }
  | { kind: 'map'; entries: Entry[] }
  | { kind: 'list'; items: Item[] };

export interface Item extends Presence {
  value: Variants;
  /** As it is without components, or as the one that adds it has it. */
  plain: Json;
}

export interface Entry extends Item {
  name: string;
}

/** What is there without any component. */
export function variantsOf(value: Json): Variants {
  if (Array.isArray(value)) return { kind: 'list', items: value.map((item) => present(item)) };
  if (value !== null && typeof value === 'object') {
    return { kind: 'map', entries: Object.entries(value).map(([name, member]) => entryOf(name, member)) };
  }
  return { kind: 'scalar', value };
}

function entryOf(name: string, plain: Json, component?: string): Entry {
  return Object.assign(present(plain, component), { name });
}

function present(plain: Json, component?: string): Item {
  return { value: variantsOf(plain), plain, with: component === undefined ? [] : [component], without: [] };
}

const isMap = (value: Json | undefined): value is { [name: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isBase = ({ with: components }: Presence): boolean => components.length === 0;

/** Adds what a component makes of a value that is `before` without it. */
export function addVariant(variants: Variants, before: Json, after: Json, component: string): void {
  if (variants.kind === 'map' && isMap(before) && isMap(after)) addToMap(variants.entries, before, after, component);
  if (variants.kind === 'list' && Array.isArray(before) && Array.isArray(after)) addToList(variants.items, before, after, component);
}

/** Whether a value can be changed in its parts; else one takes the place of the other. */
const isSameKind = (before: Json, after: Json): boolean =>
  (isMap(before) && isMap(after)) || (Array.isArray(before) && Array.isArray(after));

function addToMap(entries: Entry[], before: { [name: string]: Json }, after: { [name: string]: Json }, component: string): void {
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [one, other] = [before[name], after[name]];
    if (isDeepStrictEqual(one, other)) continue;
    const entry = entries.find((each) => each.name === name && isBase(each));
    if (entry && one !== undefined && other !== undefined && isSameKind(one, other)) addVariant(entry.value, one, other, component);
    else {
      if (entry) entry.without.push(component);
      if (other !== undefined) addEntry(entries, name, other, component);
    }
  }
}

/** Two components that add the same are one entry. */
function addEntry(entries: Entry[], name: string, value: Json, component: string): void {
  const same = entries.find((each) => each.name === name && !isBase(each) && isDeepStrictEqual(each.plain, value));
  if (same) same.with.push(component);
  else entries.push(entryOf(name, value, component));
}

/** Items that stay are found by their order; one that is changed in place has the name of the one before. */
function addToList(items: Item[], before: readonly Json[], after: readonly Json[], component: string): void {
  const bases = items.filter(isBase);
  let next = 0;
  for (const [at, one] of before.entries()) {
    const item = bases[at];
    const found = after.findIndex((other, place) => place >= next && (isDeepStrictEqual(one, other) || isSameName(one, other)));
    if (item === undefined) continue;
    if (found === -1) {
      item.without.push(component);
      continue;
    }
    for (const added of after.slice(next, found)) items.splice(items.indexOf(item), 0, present(added, component));
    addVariant(item.value, one, after[found] ?? null, component);
    next = found + 1;
  }
  for (const added of after.slice(next)) items.push(present(added, component));
}

function isSameName(one: Json, other: Json): boolean {
  return isMap(one) && isMap(other) && one['name'] !== undefined && one['name'] === other['name'];
}
