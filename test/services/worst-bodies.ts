import { z } from 'zod';
import type { RouteDescription } from '#shared/http/route.ts';

/** A body to post, and what it is called. */
export interface NamedBody {
  readonly name: string;
  readonly text: string;
}

export interface BodySize {
  /** All bodies have so many, padded with spaces. */
  readonly bytes: number;
  readonly values: number;
  readonly depth: number;
}

/** One string of the size wanted, in a body that no schema takes. */
export function plainBody(bytes: number): string {
  const frame = '{"plain":""}';
  return `{"plain":"${'x'.repeat(bytes - frame.length)}"}`;
}

/**
 * The worst that a route may be sent within the bounds of bodies: each field of its schema, and the body itself, made of as many values,
 * levels or characters as are allowed. `valid` is a body that the route takes, which gets the fields one after the other.
 */
export function worstBodies(route: RouteDescription, valid: Record<string, unknown>, size: BodySize): NamedBody[] {
  const values = worstValues(size);
  const bodies = fieldsOf(route).flatMap((field) => {
    const { [field]: _replaced, ...others } = valid;
    const rest = JSON.stringify(others).slice(1, -1);
    return values.map(({ name, text }) => ({
      name: `${field}: ${name}`,
      text: `{${rest}${rest === '' ? '' : ','}${JSON.stringify(field)}:${text}}`,
    }));
  });
  return [...bodies, ...values.filter(({ text }) => !text.startsWith('"'))].map(({ name, text }) => ({
    name,
    text: text.padEnd(size.bytes),
  }));
}

/** The names of the members that a route's body may have, whatever its schema is made of. */
function fieldsOf({ request }: RouteDescription): string[] {
  if (!request?.body) return [];
  const schema = z.toJSONSchema(request.body, { unrepresentable: 'any', io: 'input' });
  const forms = [schema, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
  return [...new Set(forms.flatMap((form) => Object.keys(form.properties ?? {})))];
}

/** As JSON text. A little below each bound, so that the frame around them fits too. */
export function worstValues({ bytes, values, depth }: BodySize): NamedBody[] {
  const count = values - 100;
  const room = bytes - 1000;
  const list = (element: string): string => `[${Array.from({ length: count }, () => element).join(',')}]`;
  const members = (value: string): string => `{${Array.from({ length: count }, (_, at) => `"k${at}":${value}`).join(',')}}`;
  const text = (piece: string): string =>
    JSON.stringify(piece.repeat(Math.floor(room / Buffer.byteLength(JSON.stringify(piece).slice(1, -1)))));
  return [
    { name: 'nulls', text: members('null') },
    { name: 'distinct keys', text: members('0') },
    { name: 'empty objects', text: `[${Array.from({ length: count / 2 }, () => '{}').join(',')}]` },
    { name: 'strings', text: list('""') },
    { name: 'levels', text: `${'['.repeat(depth - 2)}${']'.repeat(depth - 2)}` },
    { name: 'spaces', text: `"a${' '.repeat(room)}b"` },
    { name: 'digits', text: text('1') },
    { name: 'words', text: text('every 1 ') },
    { name: 'dots', text: text('a.') },
    { name: 'lines', text: text('/schedule every\n') },
    { name: 'sections', text: text('{{#a}}') },
    { name: 'spaces in a tag', text: `"{{a${' '.repeat(room)}b}}"` },
  ];
}
