import { expect, test } from 'vitest';
import {
  optionsProblems,
  hookOptionsSchema,
  PROVIDER_NAMES,
  PROVIDERS,
  secretProblem,
} from '../../services/webhooks/providers/registry.ts';
import { HANDSHAKE_NAMES } from '../../services/webhooks/handshakes/handshakes.ts';
import { exists, read } from '../deploy/repository.ts';
import { helpOf, namesInTables, serveOpenapi } from './documents.ts';

const { document, text } = await serveOpenapi();

test.each(PROVIDER_NAMES)('the provider %s is in every document and help text, and has a test', (provider) => {
  expect(namesInTables('docs/webhooks.md')).toContain(provider);
  expect(/Providers: [^]*?\n\n/.exec(read('docs/webhooks.md'))?.[0]).toContain(`\`${provider}\``);
  expect(helpOf('hooks', 'create').replaceAll(/\s+/g, ' ')).toMatch(new RegExp(`the sender: [^:]*\\b${provider}\\b`));
  expect(exists(`test/services/webhooks/providers/${provider}.test.ts`)).toBe(true);
});

test('the console has the providers and handshakes of the registry, and no other', () => {
  // Its module is for browsers.
  const source = read('services/dashboard/console/pages/hooks/hook-texts.ts');
  const listed = ['PROVIDERS', 'HANDSHAKES'].map((name) =>
    new RegExp(`const ${name} = \\[([^\\]]*)\\]`).exec(source)?.[1]?.match(/[\w-]+/g),
  );
  expect(listed).toEqual([PROVIDER_NAMES, HANDSHAKE_NAMES]);
});

test.each(PROVIDER_NAMES)('the headers that the provider %s reads are in the OpenAPI document of the receiver', (provider) => {
  const names = Object.keys(PROVIDERS[provider].headers);
  const described = names.map((name) => ({ in: 'header', name, description: expect.stringContaining(`\`${provider}\`: `) }));
  expect(document).toMatchObject({
    paths: { '/hooks/{id}': { post: { parameters: expect.arrayContaining(described.map((each) => expect.objectContaining(each))) } } },
  });
});

test('a hook may be of every provider of the registry and of no other', () => {
  const listed = [...text.matchAll(/"provider":\{[^}]*?"enum":(\[[^\]]*\])/g)].map(([, names = '']): unknown => JSON.parse(names));
  expect(listed.length).toBeGreaterThan(0);
  for (const names of listed) expect(names).toEqual(PROVIDER_NAMES);
});

test('no two providers read the same header, which the document describes once', () => {
  const names = Object.values(PROVIDERS).flatMap(({ headers }) => Object.keys(headers));
  expect(names).toEqual([...new Set(names)]);
});

test.each(PROVIDER_NAMES)(
  'a hook of the provider %s may have the options that the provider takes, and the secret that it needs',
  (provider) => {
    const { options, hasSecret } = PROVIDERS[provider];
    const schemas: readonly unknown[] = hookOptionsSchema.options;
    expect(options === null || schemas.includes(options.schema)).toBe(true);
    expect(optionsProblems(provider, null).length === 0).toBe(options?.isRequired !== true);
    expect(secretProblem(provider, hasSecret ? null : 'secret')).not.toBeNull();
  },
);
