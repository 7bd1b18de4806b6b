import { isModule, type SourceFile } from './source-file.ts';

/** Words of more than one part are looked for in sentences too. */
export interface OldWords {
  readonly words: ReadonlySet<string>;
  readonly phrases: readonly string[];
}

/** The table of the glossary that says what is not used. */
export function readOldWords(glossary: string): OldWords {
  const table = glossary.split('## Words that are not used')[1] ?? '';
  const cells = [...table.matchAll(/^\| (`[^|]+) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word),
  );
  return { words: new Set(cells.filter((cell) => !cell.includes(' '))), phrases: cells.filter((cell) => cell.includes(' ')) };
}

/** `#isToldOfInput` is `is told of input`. */
function partsOf(name: string): string[] {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((part) => part !== '');
}

/** What is written for people: it may use any word, but no phrase of ours. */
const PROSE = /\/\*[^]*?\*\/|\/\/[^\n]*|--[^\n]*/g;
const TEXT = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`|\/(?:[^/\\\n[]|\\.|\[(?:[^\]\\]|\\.)*\])+\/[dgimsuy]*/g;

function identifiersOf({ path, text }: SourceFile): Set<string> {
  const code = path.endsWith('.lua') ? text.replaceAll(/--[^\n]*/g, '') : text.replaceAll(/\/\*[^]*?\*\/|(?<![:'"`])\/\/[^\n]*/g, '');
  return new Set(
    code
      .replaceAll(TEXT, (found) =>
        found.startsWith('`')
          ? [...found.matchAll(/\$\{([^}]*)\}/g)].map(([, part = '']) => part.replaceAll(/'[^']*'/g, '')).join(' ')
          : '',
      )
      .match(/[A-Za-z_$][\w$]*/g),
  );
}

/** Names that stored records and configurations have: they stay readable. */
const KEPT = new Set([
  'shared/config/agent-definitions.ts: writs',
  'shared/config/load-config.ts: writs',
  'shared/config/load-config.ts: maxWritsPerRun',
  'shared/http/openapi/field-descriptions.ts: writs',
  'shared/schedules/public-records.ts: most',
  'shared/schedules/changes/schedule-request.ts: most',
  'shared/schedules/firing/plan-runs.ts: most',
  'shared/schedules/store/schedule.ts: most',
  'shared/tasks/task-state.ts: tell',
  'shared/ledger/codec/body.ts: tell',
  'shared/ledger/settle/decide-transition.ts: tell',
  'shared/ledger/scripts/include/settle/finish.lua: tell',
  'test/shared/ledger/support/ledger-problems.ts: tell',
  'test/shared/ledger/codec/state.test.ts: tell',
  'test/shared/queue/accept/accept-task.test.ts: tell',
]);

/** Names of files and identifiers with a word that the glossary replaces, and comments with such a phrase. */
export function oldWords(files: readonly SourceFile[], { words, phrases }: OldWords): string[] {
  const isOld = (name: string): boolean => {
    const parts = partsOf(name);
    return parts.some((part) => words.has(part)) || phrases.some((phrase) => ` ${parts.join(' ')} `.includes(` ${phrase} `));
  };
  const inProse = new RegExp(`\\b(${phrases.join('|')})\\b`, 'i');
  return files
    .filter((file) => isModule(file) || file.path.endsWith('.lua'))
    .flatMap((file) => {
      const name = isOld(file.path.replaceAll('/', ' ')) ? [`${file.path}: its name`] : [];
      const names = [...identifiersOf(file)]
        .filter(isOld)
        .map((found) => `${file.path}: ${found}`)
        .filter((found) => !KEPT.has(found));
      const said = (file.text.match(PROSE) ?? []).flatMap(
        (prose) => inProse.exec(prose.replaceAll(/\s+(\*|\/\/|--)?\s*/g, ' '))?.[0] ?? [],
      );
      return name.concat(
        names,
        said.map((found) => `${file.path}: "${found}" in a comment`),
      );
    });
}
