import { expect, test } from 'vitest';
import { z } from 'zod';
import { environmentSchema } from '#shared/config/environment.ts';
import { settingsSchema } from '#shared/config/settings/settings.ts';
import { read } from '../deploy/repository.ts';

interface Setting {
  path: string;
  /** As the documentation shows it. */
  byDefault: string;
}

/** All settings that are no group of others, in the order of the schema. */
function listSettings(schema: unknown, path: readonly string[], byDefault: unknown): Setting[] {
  const inner = unwrap(schema);
  if (isNamed(schema)) return listNamed(path, byDefault);
  if (!(inner instanceof z.ZodObject)) {
    return [{ path: path.join('.'), byDefault: byDefault === undefined ? 'none' : `\`${JSON.stringify(byDefault)}\`` }];
  }
  const defaults = new Map(Object.entries(byDefault ?? {}));
  return Object.entries(inner.shape).flatMap(([name, each]) => listSettings(each, [...path, name], defaults.get(name)));
}

/** Whether it has things by name, with bounds of all beside them, which are apart once it is read. */
function isNamed(schema: unknown): boolean {
  return schema instanceof z.ZodPrefault && schema.unwrap() instanceof z.ZodPipe && unwrap(schema) instanceof z.ZodRecord;
}

function listNamed(path: readonly string[], byDefault: unknown): Setting[] {
  const bounds = Object.entries(byDefault ?? {}).filter(([, value]) => typeof value === 'number');
  const name = path.join('.');
  return [{ path: name, byDefault: '`{}`' }, ...bounds.map(([bound, value]) => ({ path: `${name}.${bound}`, byDefault: `\`${value}\`` }))];
}

function unwrap(schema: unknown): unknown {
  if (schema instanceof z.ZodPipe) return unwrap(schema.in instanceof z.ZodTransform ? schema.out : schema.in);
  const hasInner =
    schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional || schema instanceof z.ZodNullable;
  // A group that `false` turns off.
  if (schema instanceof z.ZodUnion) return schema.options.find((option) => option instanceof z.ZodObject) ?? schema;
  return hasInner ? unwrap(schema.unwrap()) : schema;
}

const SETTINGS = listSettings(settingsSchema, [], settingsSchema.parse({}));

test.each(SETTINGS)('the setting $path is in the documentation with its default and a meaning', ({ path, byDefault }) => {
  const row = read('docs/settings.md')
    .split('\n')
    .find((line) => line.startsWith(`| \`${path}\` |`));
  expect(row).toContain(`| \`${path}\` | ${byDefault} | `);
  expect(row).toMatch(/\| \S[^|]+ \|$/);
});

test('the documentation lists no other setting', () => {
  const listed = [...read('docs/settings.md').matchAll(/^\| `([^`]+)` \|/gm)].map(([, path]) => path);
  expect(listed).toEqual(SETTINGS.map(({ path }) => path));
});

const PLATFORM = /^(?:TELEGRAM|SLACK|DISCORD|WHATSAPP)(?=_)/;

test.each(Object.keys(environmentSchema.shape))('the environment variable %s is in the documentation', (name) => {
  const page = read(PLATFORM.test(name) ? 'docs/chat.md' : 'docs/configuration.md');
  const names = [name, name.replace(PLATFORM, '<PLATFORM>')];
  expect(names.some((each) => page.includes(`\`${each}\``) || page.includes(`\`${each}=`))).toBe(true);
});
