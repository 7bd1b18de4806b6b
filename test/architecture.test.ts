import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  importsOfTheClient,
  importsPastADoor,
  importsUpwards,
  packagesOutsideTheirFolder,
  servicesImportingServices,
  sharedByRelativePath,
  sharedOutOfOrder,
  sharedOutsideTheOrder,
} from './architecture/import-rules.ts';
import { brokenIncludes, fragmentsReadingInputs, undocumentedScripts, unusedFunctions, unusedScripts } from './architecture/lua-rules.ts';
import { readSources, type SourceFile } from './architecture/source-file.ts';
import { oldWords, readOldWords } from './architecture/word-rules.ts';
import { badDoors, crowdedFolders, emptyNames, environmentReads, longFiles, wordsFromElsewhere } from './architecture/text-rules.ts';

type Rule = (files: readonly SourceFile[]) => string[];

interface Case {
  sentence: string;
  rule: Rule;
  /** Path and text of a file that keeps the rule, and of files that break it, one way each. */
  good: [path: string, text: string];
  bad: [path: string, text: string][];
}

const ownedBy = (name: string, folder: string): Case => ({
  sentence: `${name} is imported in ${folder} only, its types included`,
  rule: (files) => packagesOutsideTheirFolder(name, files),
  good: [`${folder}/x.ts`, `import { a } from '${name}/x';`],
  bad: [
    ['services/api/x.ts', `import { a } from '${name}/x';`],
    ['services/api/x.ts', `import type {\n  A,\n  B,\n} from '${name}/x';`],
    ['test/x.test.ts', `type A = import('${name}/x').A;`],
    ['shared/http/x.ts', `export { a } from '${name}/x';`],
    ['shared/http/x.ts', `const a = await import('${name}/x');`],
    ['services/local/x.mjs', `import '${name}/x';`],
  ],
});

const header = '-- Does it.\n-- KEYS[1] task: the record\n-- ARGV[1] now: milliseconds\n-- RETURNS 1\n';
const script = 'shared/ledger/scripts/cancel-task.lua';
const fragment = 'shared/ledger/scripts/include/emit.lua';

const CASES: Case[] = [
  {
    sentence: 'a service imports no other service, except local, which runs them all',
    rule: servicesImportingServices,
    good: ['services/local/main.ts', "import { a } from '../api/a.ts';"],
    bad: [
      ['services/api/x.ts', "import { a } from '../worker/a.ts';"],
      ['services/cli/x.ts', "import { a } from '../local/a.ts';"],
      ['services/api/deep/x.ts', "const a = await import('../../worker/a.ts');"],
    ],
  },
  {
    sentence: 'services import only services and shared, and shared only shared',
    rule: importsUpwards,
    good: ['services/api/x.ts', "import { a } from '#shared/time/index.ts';"],
    bad: [
      ['services/api/x.ts', "import { a } from '../../test/support/a.ts';"],
      ['shared/http/x.ts', "import { a } from '../../services/api/a.ts';"],
      ['shared/http/x.ts', "import type { A } from '../../agents/a.ts';"],
    ],
  },
  {
    sentence: 'other folders reach shared through #shared/',
    rule: sharedByRelativePath,
    good: ['test/x.test.ts', "import { a } from '#shared/time/a.ts';"],
    bad: [['services/api/x.ts', "import { a } from '../../shared/time/a.ts';"]],
  },
  {
    sentence: 'a folder of shared imports only itself and the ones before it',
    rule: sharedOutOfOrder,
    good: ['shared/ledger/x.ts', "import { a } from '../redis/a.ts';\nimport { b } from './b.ts';"],
    bad: [
      ['shared/redis/x.ts', "import { a } from '../ledger/a.ts';"],
      ['shared/redis/x.ts', "import type { A } from '#shared/ledger/a.ts';"],
    ],
  },
  {
    sentence: 'every file of shared is in a folder that has its place in the order',
    rule: sharedOutsideTheOrder,
    good: ['shared/time/x.ts', ''],
    bad: [
      ['shared/x.ts', ''],
      ['shared/stuff/x.ts', ''],
    ],
  },
  {
    sentence: 'the client imports only itself, and the codes of errors',
    rule: importsOfTheClient,
    good: ['shared/client/x.ts', "import { a } from './a.ts';\nimport type { B } from '../errors/index.ts';"],
    bad: [
      ['shared/client/x.ts', "import { a } from 'node:crypto';"],
      ['shared/client/x.ts', "import { a } from 'eventsource-parser';"],
      ['shared/client/deep/x.ts', "const a = await import('../../text/index.ts');"],
    ],
  },
  ownedBy('ioredis', 'shared/redis'),
  ownedBy('bullmq', 'shared/queue'),
  ownedBy('pino', 'shared/log'),
  ownedBy('@opentelemetry', 'shared/log'),
  ownedBy('@bull-board', 'services/dashboard'),
  {
    sentence: 'the environment is read in shared/config only',
    rule: environmentReads,
    good: ['shared/config/x.ts', "const a = process.env['A'];"],
    bad: [
      ['services/api/x.ts', "const a = process.env['A'];"],
      ['test/x.test.ts', "const a = process['env'];"],
      ['shared/log/x.ts', 'const { env } = process;'],
      ['shared/log/x.ts', "import { env } from 'node:process';"],
    ],
  },
  {
    sentence: 'a file is named by what it holds',
    rule: emptyNames,
    good: ['shared/time/wait.ts', ''],
    bad: [
      ['shared/time/utils.ts', ''],
      ['services/api/task-helpers.ts', ''],
      ['shared/tasks/types.ts', ''],
      ['shared/common/x.ts', ''],
      ['test/support/redis-manager.test.ts', ''],
      ['shared/agents/base.ts', ''],
    ],
  },
  {
    sentence: 'a folder of shared is imported through its door',
    rule: importsPastADoor,
    good: ['shared/tasks/x.ts', "import { a } from '../time/index.ts';\nimport { b } from './b.ts';"],
    bad: [
      ['services/api/x.ts', "import { a } from '#shared/time/clock.ts';"],
      ['shared/tasks/x.ts', "import type { A } from '../time/clock.ts';"],
      ['shared/tasks/deep/x.ts', "import { a } from '../index.ts';"],
    ],
  },
  {
    sentence: 'a door says what is inside and names what it hands out, and no other file stands for a folder',
    rule: badDoors,
    good: ['shared/time/index.ts', "/** What time is. */\nexport { a } from './a.ts';\nexport type { B } from './b.ts';\n"],
    bad: [
      ['shared/time/index.ts', 'export const a = 1;'],
      ['shared/time/index.ts', "export { a } from './a.ts';\n"],
      ['shared/time/x.ts', "export * from './a.ts';"],
    ],
  },
  {
    sentence: 'no file has more than 300 lines, and no test more than 600',
    rule: longFiles,
    good: ['test/x.test.ts', '\n'.repeat(500)],
    bad: [
      ['shared/time/x.ts', 'x\n'.repeat(301)],
      ['test/x.test.ts', 'x\n'.repeat(601)],
      [script, 'x\n'.repeat(301)],
    ],
  },
  {
    sentence: 'no folder has more than 20 entries',
    rule: crowdedFolders,
    good: ['shared/time/x.ts', ''],
    bad: [],
  },
  {
    sentence: 'nothing refers to what a reader of the repository cannot open',
    rule: wordsFromElsewhere,
    good: ['README.md', 'Read README.md, then POST to /v1/tasks.'],
    bad: [
      ['README.md', ['as in ../shared', 'NOTES.md'].join('/')],
      ['shared/time/x.ts', ['// see ', 'home', 'me/x'].join('/')],
      ['shared/time/x.ts', ['// as the blue', 'print says'].join('')],
      ['k8s/base.yaml', ['# issue', '12'].join(' ')],
    ],
  },
  {
    sentence: 'names and comments use the words of the glossary, and none that it replaces',
    rule: (files) => oldWords(files, GLOSSARY),
    good: ['shared/time/x.ts', "/** Releases the lane. */\nexport const release = 'told';\n"],
    bad: [
      ['shared/time/rouse.ts', ''],
      ['shared/time/x.ts', 'export const tellFleet = 1;'],
      ['shared/time/x.ts', 'const a = `${hiderOf(1)}`;'],
      ['shared/time/x.ts', '// The lane is let go.'],
      ['shared/ledger/scripts/include/x.lua', 'local deed = 1'],
    ],
  },
  {
    sentence: 'a script documents exactly the keys and arguments it uses, and what it returns',
    rule: undocumentedScripts,
    good: [script, `${header}-- include: emit\nreturn redis.call('HSET', KEYS[1], 'now', ARGV[1]) -- KEYS[9] is no use`],
    bad: [
      [script, `${header}return redis.call('HSET', KEYS[1], 'now', ARGV[1], ARGV[2])`],
      [script, `${header}return redis.call('HGETALL', KEYS[1])`],
      [script, `${header}return { KEYS[1], ARGV[1], #ARGV }`],
      [script, `${header}local i = 1 return { KEYS[1], ARGV[1], KEYS[i] }`],
      [script, `${header.replace('-- RETURNS 1\n', '')}return { KEYS[1], ARGV[1] }`],
      [script, `${header.replaceAll('[1]', '[2]')}return { KEYS[2], ARGV[2] }`],
      [script, `${header.replace(': the record', '')}return { KEYS[1], ARGV[1] }`],
      [script, `${header}${header}return { KEYS[1], ARGV[1] }`],
      [script, `${header}local next_key = iterate(KEYS, 2) return { KEYS[1], ARGV[1] }`],
      [script, `${header}-- KEYS[2...] per task: its record\nreturn { KEYS[1], ARGV[1] }`],
      [script, `${header}-- KEYS[3...] per task: its record\nlocal next_key = iterate(KEYS, 3) return { KEYS[1], ARGV[1] }`],
    ],
  },
  {
    sentence: 'a fragment of a script reads no keys and arguments of its own',
    rule: fragmentsReadingInputs,
    good: [fragment, '-- What KEYS[1] of the script is, comes as an argument.\nlocal function emit(key) end'],
    bad: [[fragment, "local function emit() redis.call('DEL', KEYS[1]) end"]],
  },
  {
    sentence: 'a script includes fragments that are there, and each fragment is included',
    rule: brokenIncludes,
    good: [script, 'return 1'],
    bad: [
      [script, '-- include: emit\nreturn 1'],
      [fragment, ''],
    ],
  },
  {
    sentence: 'each script is named by a source that runs it',
    rule: unusedScripts,
    good: ['shared/ledger/cancel.ts', "await ledger.run('cancel-task', [], []);"],
    bad: [[script, header]],
  },
  {
    sentence: 'each function of a fragment is called',
    rule: unusedFunctions,
    good: [fragment, 'local function emit() end\nlocal function emit_all() emit() end\nemit_all()'],
    bad: [[fragment, 'local function emit() end -- emit']],
  },
];

const GLOSSARY = readOldWords(readFileSync(resolve(import.meta.dirname, '../.github/GLOSSARY.md'), 'utf8'));

const sources = readSources(resolve(import.meta.dirname, '..'));
/** The cases below break the rules on purpose. */
const judged = sources.filter(({ path }) => path !== 'test/architecture.test.ts');

const named = CASES.map((entry) => [entry.sentence, entry] as const);

describe('in this repository', () => {
  it.each(named)('%s', (_sentence, { rule }) => {
    expect(rule(judged)).toEqual([]);
  });

  it('the rules see the sources', () => {
    const paths = sources.map(({ path }) => path);
    expect(paths).toEqual(expect.arrayContaining(['shared/time/clock.ts', script, 'test/architecture.test.ts', 'package.json']));
  });
});

it('a folder of 21 files is too full, and one of 20 with its door is not', () => {
  const files = Array.from({ length: 20 }, (_, n) => ({ path: `shared/time/x${n}.ts`, text: '' }));
  const door = { path: 'shared/time/index.ts', text: '' };
  expect(crowdedFolders([...files, door])).toEqual([]);
  expect(crowdedFolders([...files, door, { path: 'shared/time/y.ts', text: '' }])).toEqual([expect.stringContaining('21 entries')]);
});

describe('the decision records', () => {
  it('have each number once, in name and title', () => {
    const folder = resolve(import.meta.dirname, '../.github/decisions');
    const names = readdirSync(folder);
    const numbers = names.map((name) => name.slice(0, 4));
    expect(new Set(numbers).size).toBe(names.length);
    expect(names.filter((name) => !readFileSync(join(folder, name), 'utf8').startsWith(`# ${name.slice(0, 4)}`))).toEqual([]);
  });

  it('say under the title whether they hold', () => {
    const folder = resolve(import.meta.dirname, '../.github/decisions');
    const without = readdirSync(folder).filter((name) => !/^# .+\n\nStatus: \S/.test(readFileSync(join(folder, name), 'utf8')));
    expect(without).toEqual([]);
  });
});

describe('a source that breaks the rule is found, and one that keeps it is not', () => {
  it.each(named)('%s', (_sentence, { rule, good, bad }) => {
    expect(rule([{ path: good[0], text: good[1] }])).toEqual([]);
    for (const [path, text] of bad) expect(rule([{ path, text }]), `${path}:\n${text}`).not.toEqual([]);
  });
});
